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
export function mergeControls(stored: Control[], sent: SentControl[], stamp: EvidenceStamp): Control[] {
  const byId = new Map(stored.map((control) => [control.id, control]))
  return sent.map(({ evidences, ...control }) => {
    const before = byId.get(control.id)?.evidences ?? []
    const after = evidences ? mergeEvidences(before, evidences, stamp) : before
    const { frequency, description, evidence_type, ...first } = control
    return { ...first, evidences: after, frequency, description, evidence_type }
  })
}

function mergeEvidences(stored: Evidence[], sent: SentEvidence[], stamp: EvidenceStamp): Evidence[] {
  const left = new Map<string, Evidence[]>()
  for (const evidence of stored) {
    const key = contentOf(evidence)
    left.set(key, [...(left.get(key) ?? []), evidence])
  }
  return sent.map((evidence) => {
    const candidates = left.get(contentOf(evidence)) ?? []
    const index = candidates.findIndex((candidate) => claimFits(evidence, candidate))
    const [same] = index < 0 ? [] : candidates.splice(index, 1)
    if (same) return same
    const { files, details, completed, residual_risk } = evidence
    return { files, details, datetime: stamp.datetime, completed, residual_risk, submitted_by: stamp.submitted_by }
  })
}

function contentOf({ files, details, completed, residual_risk }: Evidence | SentEvidence): string {
  return JSON.stringify([files, details, completed, residual_risk])
}

/** Whether what the client says of time and submitter, if anything, is what is stored. */
function claimFits(sent: SentEvidence, stored: Evidence): boolean {
  return (
    (sent.datetime === undefined || sent.datetime === stored.datetime) &&
    (sent.submitted_by === undefined || sent.submitted_by.user_id === stored.submitted_by.user_id)
  )
}
