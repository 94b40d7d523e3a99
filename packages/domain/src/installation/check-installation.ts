import { verifyEvents } from '../audit/verify-events.ts'
import type { Needs } from '../ports.ts'

const DAY = 24 * 60 * 60 * 1000

/** What a check looks at. */
export const CHECKED = ['database', 'files', 'audit trail'] as const

/** Something wrong with what is stored. */
export type InstallationProblem = { in: (typeof CHECKED)[number]; problem: string }

/**
 * Checks all that is stored, for the operator: the database itself, the bytes of documents, feeds and traffic, and the
 * audit trail. Changes nothing, and may run while the service does.
 *
 * @param onProgress told how far the audit trail is checked.
 * @returns what is wrong; nothing where all is well.
 */
export async function checkInstallation(
  ports: Needs<'integrity' | 'files' | 'events' | 'newSha256' | 'now'>,
  onProgress?: (done: number, total: number) => void,
): Promise<InstallationProblem[]> {
  const findings: InstallationProblem[] = (await ports.integrity()).map((problem) => ({ in: 'database', problem }))
  const yesterday = new Date(ports.now().getTime() - DAY).toISOString()
  const { damaged, orphans } = await ports.files.check(yesterday)
  for (const file of damaged) findings.push({ in: 'files', problem: `file ${file} is not as long as its record says` })
  for (const file of orphans) findings.push({ in: 'files', problem: `file ${file} belongs to no record` })
  const { flaw } = await verifyEvents(ports, undefined, onProgress)
  if (flaw) findings.push({ in: 'audit trail', problem: `row ${flaw.position} ${flaw.reason}` })
  return findings
}
