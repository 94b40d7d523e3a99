import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf } from '../apps/server/test/support/client.ts'
import { aPerson, type Person } from '../packages/adapters-http/src/testing/world.ts'
import { createOrganization } from '../packages/domain/src/index.ts'
import { lookInside } from './inside.ts'
import { type Mood, startMailServer } from './mail-server.ts'
import type { Context, Outcome, Scenario } from './scenario.ts'

export const mail: Scenario = {
  name: 'mail',
  title: 'a mail server that refuses, hangs and drops the line: each invitation that three processes owe arrives once',
  databases: ['sqlite', 'postgres'],
  run,
}

const PROCESSES = 3
/** Invitations of one organization and owner: well below any limit on them. */
const EACH = 20

/** What the mail server does, one after the other, before it takes everything. */
const MOODS: Mood[] = [
  'refuse',
  '421',
  'hang at the greeting',
  '450 for everybody',
  'hang at MAIL',
  '550 for everybody',
  'hang after DATA',
  'drop',
]

/** How long each of them lasts, in milliseconds. */
const LASTING = { full: 25_000, short: 0 }

/** Longest time that the mails may take to arrive once the server takes them, in milliseconds: the longest back-off. */
const DEADLINE = 15 * 60 * 1000

async function run(context: Context): Promise<Outcome> {
  const DATABASE_URL = await context.newDatabase()
  const inside = await lookInside(context, DATABASE_URL)
  const mailServer = await startMailServer('refuse')
  context.atEnd(mailServer.stop)
  const env = { DATABASE_URL, SMTP_URL: mailServer.url }
  const servers = await Promise.all(Array.from({ length: PROCESSES }, () => context.serve(env)))
  const owed = context.rounds({ full: 1000, short: 60 })

  const owners: { owner: Person; organization: number }[] = []
  for (let name = 0; name < Math.ceil(owed / EACH); name += 1) {
    const owner = await aPerson(inside.ports, `owner-${name}@example.com`)
    const organization = await createOrganization(
      inside.ports,
      { user: owner.user.id },
      { name: `Organization ${name}` },
    )
    owners.push({ owner, organization })
  }

  /** Addresses whose invitation was acknowledged. */
  const invited = new Set<string>()
  async function invite(from: number, to: number): Promise<void> {
    for (let person = from; person < to; person += 1) {
      const { owner, organization } = owners[person % owners.length] ?? {}
      const client = clientOf(servers[person % PROCESSES]?.address ?? '', owner?.token)
      const email = `person-${person}@example.com`
      const { status } = await client('POST', `/organizations/${organization}/users/0`, { email })
      context.check(status === 201 || status === 200, `inviting ${email}: ${status}`)
      invited.add(email)
    }
  }

  // Each mood meets invitations that were owed before it, and new ones.
  const share = Math.ceil(owed / MOODS.length)
  for (const [index, mood] of MOODS.entries()) {
    await mailServer.become(mood)
    const met = () => mailServer.connections.get(mood) ?? 0
    const before = met()
    await invite(index * share, Math.min(owed, (index + 1) * share))
    if (context.size === 'short') await inside.makeMailsDue()
    // A server that refuses cannot count who came.
    if (mood !== 'refuse') await until(context, `nobody met the mood ${mood}`, () => met() > before)
    await sleep(LASTING[context.size])
    // In the short form nobody waits for the timeouts of what hangs.
    if (context.size === 'short') await mailServer.become('421', true)
    context.log(`${mood}: ${met()} connections, ${mailServer.mails.size} mails so far`)
  }

  await mailServer.become('accept', true)
  const arrived = () => [...mailServer.mails.values()].filter(({ accepted }) => accepted > 0).length
  const started = Date.now()
  for (
    let looks = 0;
    (arrived() < owed || (await inside.owedMails()) > 0) && Date.now() - started < DEADLINE;
    looks += 1
  ) {
    if (context.size === 'short') await inside.makeMailsDue()
    if (looks % 60 === 59) context.log(`${arrived()} of ${owed} arrived`)
    await sleep(500)
  }
  const waited = Math.round((Date.now() - started) / 1000)

  const left = await inside.owedMails()
  context.check(left === 0, `${left} mails are still owed`)
  const perAddress = new Map<string, number>()
  let dropped = 0
  for (const [id, { to, accepted, dropped: lost }] of mailServer.mails) {
    context.check(
      accepted === 1,
      `the mail ${id} to ${to} was taken ${accepted} times, and ${lost} times as the line dropped`,
    )
    context.check(invited.has(to), `${to} was never invited`)
    perAddress.set(to, (perAddress.get(to) ?? 0) + 1)
    dropped += lost
  }
  for (const email of invited) {
    context.check(perAddress.get(email) === 1, `${perAddress.get(email) ?? 0} different mails went to ${email}`)
  }
  for (const server of servers) {
    const { code, stderr } = await server.stop()
    context.check(code === 0, `a process ended with ${code}`)
    context.check(!stderr.includes('smi_'), 'the log holds the code of an invitation')
  }
  const met = [...mailServer.connections].map(([mood, count]) => `${count} × ${mood}`)
  return {
    rounds: owed,
    summary: `${arrived()} of ${owed} arrived, ${dropped} of them twice after the line dropped, the last after ${waited} s; ${met.join(', ')}`,
  }
}

/** Waits until something holds, and counts it as an assertion that it does. */
async function until(context: Context, otherwise: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1200 && !holds(); tries += 1) await sleep(50)
  context.check(holds(), otherwise)
}
