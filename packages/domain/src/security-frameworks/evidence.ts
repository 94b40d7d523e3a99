import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import type { Needs, Stores } from '../ports.ts'
import type { Control, Evidence, SentControl, SentEvidence } from './security-framework.ts'

/** Who writes evidence, and when: what a new entry is stamped with. */
export type EvidenceStamp = Pick<Evidence, 'datetime' | 'submitted_by'>

/** The stamp of entries that the caller writes now. */
export async function evidenceStamp(
  ports: Needs<'now'>,
  stores: Pick<Stores, 'users'>,
  caller: Caller,
): Promise<EvidenceStamp> {
  const user = await stores.users.find(caller.user)
  if (!user) throw new DomainError('unauthenticated')
  return { datetime: ports.now().toISOString(), submitted_by: { user_id: user.id, user_email: user.email } }
}

/**
 * The controls that result when a client sends `sent` while `stored` is there.
 *
 * Evidence is a history with honest authors (decisions.md §4): an entry that equals a stored one of the same control is
 * that one, with its time and submitter; any other is new, and stamped with this caller and this moment, whatever it
 * claims.
 */
export async function mergeControls(
  ports: Needs<'nextTurn'>,
  stored: Control[],
  sent: SentControl[],
  stamp: EvidenceStamp,
): Promise<Control[]> {
  const byId = new Map(stored.map((control) => [control.id, control]))
  const merged: Control[] = []
  const pace = createPace(ports)
  for (const { evidences, ...control } of sent) {
    const before = byId.get(control.id)?.evidences ?? []
    const after = evidences ? await mergeEvidences(pace, before, evidences, stamp) : before
    const { frequency, description, evidence_type, ...first } = control
    merged.push({ ...first, evidences: after, frequency, description, evidence_type })
  }
  return merged
}

async function mergeEvidences(
  pace: Pace,
  stored: Evidence[],
  sent: SentEvidence[],
  stamp: EvidenceStamp,
): Promise<Evidence[]> {
  const take = await createTaker(pace, stored)
  const merged: Evidence[] = []
  for (const evidence of sent) {
    if (pace.isDue(evidence)) await pace.rest()
    const same = take?.(keyOf(evidence, evidence.datetime, evidence.submitted_by?.user_id))
    const { files, details, completed, residual_risk } = evidence
    const { datetime, submitted_by } = stamp
    merged.push(same ?? { files, details, datetime, completed, residual_risk, submitted_by })
  }
  return merged
}

/** Evidence entries, and files of them, that are compared in one turn of the event loop: some milliseconds. */
const PART = 1000

/** Says after which entry a turn of the event loop is to pass, over all controls. */
type Pace = { isDue(evidence: SentEvidence): boolean; rest(): Promise<void> }

function createPace(ports: Needs<'nextTurn'>): Pace {
  let seen = 0
  return {
    isDue({ files }) {
      seen += 1 + files.length
      return seen >= PART
    },
    rest() {
      seen = 0
      return ports.nextTurn()
    },
  }
}

/**
 * Hands out each stored entry once, oldest first, to who asks with its content and as much of its stamp as they know.
 * Undefined where there is none to hand out.
 */
async function createTaker(
  pace: Pace,
  stored: Evidence[],
): Promise<((key: string) => Evidence | undefined) | undefined> {
  if (stored.length === 0) return undefined
  const byKey = new Map<string, Evidence[]>()
  const taken = new Set<Evidence>()
  for (const evidence of stored.toReversed()) {
    if (pace.isDue(evidence)) await pace.rest()
    const { datetime, submitted_by } = evidence
    for (const time of [datetime, undefined]) {
      for (const user of [submitted_by.user_id, undefined]) {
        const key = keyOf(evidence, time, user)
        const entries = byKey.get(key)
        if (entries) entries.push(evidence)
        else byKey.set(key, [evidence])
      }
    }
  }
  return (key) => {
    const candidates = byKey.get(key) ?? []
    for (let next = candidates.pop(); next; next = candidates.pop()) {
      if (taken.has(next)) continue
      taken.add(next)
      return next
    }
    return undefined
  }
}

function keyOf(content: Evidence | SentEvidence, datetime: string | undefined, user: string | undefined): string {
  const { files, details, completed, residual_risk } = content
  return JSON.stringify([files, details, completed, residual_risk, datetime, user])
}
