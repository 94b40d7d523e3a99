import type { Caller } from '../access/caller.ts'
import { DomainError } from '../errors.ts'
import type { Needs, Stores } from '../ports.ts'
import { createPace, matchEvidences, type Pace } from './match-evidences.ts'
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
  const same = await matchEvidences(pace, stored, sent)
  const { datetime, submitted_by } = stamp
  return sent.map(({ files, details, completed, residual_risk }, index) => {
    return same.get(index) ?? { files, details, datetime, completed, residual_risk, submitted_by }
  })
}
