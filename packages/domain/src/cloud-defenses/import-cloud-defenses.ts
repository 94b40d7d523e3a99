import { OPERATOR } from '../access/caller.ts'
import { creationOf, record } from '../events.ts'
import { importRecords, type OnProgress } from '../import-records.ts'
import type { Needs } from '../ports.ts'
import { ImportedCloudDefense } from './cloud-defense.ts'

/**
 * Takes in the operator's file of cloud defense configurations, all or nothing.
 *
 * @param input an array of `ImportedCloudDefense`.
 * @returns how many were stored.
 * @throws DomainError `invalid`, with the index and path of each wrong record.
 */
export async function importCloudDefenses(
  ports: Needs<'transact' | 'now'>,
  input: unknown,
  onProgress?: OnProgress,
): Promise<number> {
  return ports.transact((stores) =>
    importRecords(
      stores,
      ImportedCloudDefense,
      input,
      async ({ check, ...defense }) => {
        const { datetime = ports.now().toISOString(), ...flags } = check?.stat ?? { fqdn: 0, proxy: 0, endpoint: 0 }
        const stat = { ...flags, datetime }
        const { status = 0, web_stat = [] } = check ?? {}
        const stored = { ...defense, check: { stat, status, web_stat } }
        const id = await stores.cloudDefenses.insert(stored)
        const { organization, fqdn } = defense
        await record(ports, stores, OPERATOR, {
          type: 'cloud_defense.imported',
          organization,
          record: id,
          changes: creationOf(stored),
          details: { fqdn },
        })
      },
      onProgress,
    ),
  )
}
