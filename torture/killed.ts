import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf } from '../apps/server/test/support/client.ts'
import type { Site } from './kinds.ts'
import { openLedger, readLedger } from './ledger.ts'
import type { Context, Outcome, Scenario } from './scenario.ts'
import { checkMails, checkSite, checkStored, makeSite, type People, registerPeople } from './site.ts'
import { writeEverything } from './writers.ts'

/** Rounds in which one person invites members, about ten a round. */
const ROUNDS_OF_A_PERSON = 6

/** Longest time that the writers get before the kill, in milliseconds. */
const LONGEST = 1000

export const killed: Scenario = {
  name: 'killed',
  title: 'kill -9 during eight writers of every kind: what was acknowledged is there, and nothing is half there',
  databases: ['sqlite', 'postgres'],
  run,
}

async function run(context: Context): Promise<Outcome> {
  const { check, random, log } = context
  const rounds = context.rounds({ full: 200, short: 3 })
  const DATABASE_URL = await context.newDatabase()
  let people = await registerPeople(DATABASE_URL)
  const ledgerOf = (site: Site) => join(context.directory, `${site.name}.ledger`)
  const sites: { site: Site; people: People }[] = []
  const told = { acknowledged: 0, refused: 0, unknown: 0 }
  let server = await context.serve({ DATABASE_URL })

  for (let round = 1; round <= rounds; round += 1) {
    // A person may invite so many others an hour and no more.
    if (round % ROUNDS_OF_A_PERSON === 0) people = await registerPeople(DATABASE_URL, round)
    const site = await makeSite(server.address, `round${round}`, people)
    const ledger = openLedger(ledgerOf(site))
    const { stop } = server
    const kill = sleep(random.between(5, LONGEST)).then(() => stop('SIGKILL'))
    await writeEverything(
      site,
      random.fork(),
      ledger,
      () => true,
      (write, { status, body }) =>
        check(status < 300, `${site.name}: ${write.verb} ${write.key} answers ${status} ${JSON.stringify(body)}`),
    )
    await kill
    ledger.close()
    const writes = readLedger(ledgerOf(site))
    for (const { end } of writes) told[end] += 1

    server = await context.serve({ DATABASE_URL })
    const present = { site, people }
    sites.push(present)
    // This round's, and that of one before it: all of them at each start would take longer and longer.
    for (const one of new Set([present, random.pick(sites)])) {
      await checkSite({ ...one.site, address: server.address }, readLedger(ledgerOf(one.site)), one.people, check)
    }
    if (round % 10 === 0) log(`${round} of ${rounds} rounds, ${told.acknowledged} writes acknowledged`)
  }
  for (const { site, people } of sites) {
    await checkSite({ ...site, address: server.address }, readLedger(ledgerOf(site)), people, check)
  }
  // The mails of a process that was killed while it sent them are sent when its lease has ended: too long for the tests.
  if (context.size === 'full') {
    await checkMails(
      join(context.directory, 'data', 'mail'),
      sites.flatMap(({ site }) => readLedger(ledgerOf(site))),
      check,
    )
  }
  await checkStored(DATABASE_URL, check)
  const { status } = await clientOf(server.address, people.owner.token)('GET', '/me')
  check(status === 200, `GET /me answers ${status} in the end`)
  return { rounds, summary: `${told.acknowledged} writes acknowledged, ${told.unknown} in flight when it was killed` }
}
