import type { Answer, Client } from '../apps/server/test/support/client.ts'
import { KINDS, type Kind, marks, officerOf, ownerOf, type Site, type Written } from './kinds.ts'
import type { Ledger, Write } from './ledger.ts'
import type { Random } from './random.ts'

/** Told of every answer to a write. */
export type OnAnswer = (write: Write, answer: Answer, milliseconds: number) => void

/**
 * Eight writers at once, one a kind of record, and one that marks notifications: each creates, edits and removes what is
 * its own, one write after the other, and has the ledger know before it goes on. They end when `goOn` says no, or when
 * the service is not there any more.
 *
 * @returns how many of them found the service gone.
 */
export async function writeEverything(
  site: Site,
  random: Random,
  ledger: Ledger,
  goOn: () => boolean,
  onAnswer: OnAnswer,
): Promise<number> {
  /** Sends a write; undefined when nobody knows whether it was done. @throws where the service is gone. */
  async function attempt(client: Client, write: Write, send: (client: Client) => Promise<Answer>) {
    const number = ledger.sent(write)
    const started = performance.now()
    const answer = await send(client)
    if (answer.status < 300) ledger.ended(number, 'acknowledged')
    else if (answer.status < 500) ledger.ended(number, 'refused')
    onAnswer(write, answer, performance.now() - started)
    return answer.status < 300 ? answer : undefined
  }

  async function writeKind(kind: Kind, random: Random): Promise<void> {
    const client = ownerOf(site)
    let count = 0
    let created = 0
    let mine: Written[] = []

    async function create(): Promise<void> {
      count += 1
      const key = `${site.name}-${kind.name}-${count}`
      const { state, send, id } = kind.create(site, random, key)
      const answer = await attempt(client, { kind: kind.name, key, verb: 'create', state }, send)
      if (!answer) return
      created += 1
      mine.push({ key, id: id(answer), state })
    }

    async function change(record: Written, verb: 'edit' | 'remove'): Promise<void> {
      const request =
        verb === 'edit'
          ? kind.edit?.(site, random, record)
          : kind.remove && { state: null, send: kind.remove(site, record) }
      if (!request) return create()
      mine = mine.filter((other) => other !== record)
      const write = { kind: kind.name, key: record.key, verb, state: request.state }
      const answer = await attempt(client, write, request.send)
      if (answer && request.state) mine.push({ ...record, state: request.state })
    }

    while (goOn()) {
      const chance = random.between(1, 10)
      const mayCreate = created < (kind.most ?? Number.POSITIVE_INFINITY)
      if (!mayCreate && mine.length === 0) return
      if (mayCreate && (mine.length === 0 || chance <= 5)) await create()
      else await change(random.pick(mine), chance <= 8 ? 'edit' : 'remove')
    }
  }

  async function mark(): Promise<void> {
    const client = officerOf(site)
    while (goOn()) {
      const id = await marks.next(site)
      if (id === undefined) continue
      const write: Write = { kind: marks.name, key: String(id), verb: 'edit', state: { read: true } }
      await attempt(client, write, (client) => client('PUT', `/notifications/${id}`))
    }
  }

  const writers = [...KINDS.map((kind) => writeKind(kind, random.fork())), mark()]
  const ended = await Promise.allSettled(writers)
  const reasons = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []))
  // Only what fetch throws is about the service; anything else is a fault of the writers.
  for (const reason of reasons) if (!isConnectionError(reason)) throw reason
  return reasons.length
}

/** Whether this is what fetch throws where nobody answers, or the answer breaks off. */
function isConnectionError(error: unknown): boolean {
  return error instanceof TypeError && (error.message === 'fetch failed' || error.message === 'terminated')
}
