import {
  listRemovedRecords,
  REMOVABLE_KINDS,
  type RemovableKind,
  type RemovedRecord,
} from '@security-management/domain'
import { type Command, wrongCall } from './command.ts'
import { table } from './table.ts'

/** Lists what is soft-removed. */
export const removedListCommand: Command = {
  name: 'removed list',
  about: 'lists what was removed and can be restored or purged',
  args: ['[KIND]'],
  async run({ args: [kind], withPorts, print }) {
    const kinds = kind === undefined ? undefined : [kindOf(kind)]
    const records = await withPorts(async ({ ports }) => {
      const found: RemovedRecord[] = []
      for await (const record of listRemovedRecords(ports, kinds)) found.push(record)
      return found
    })
    const rows = records.map((record) => [record.kind, record.id, record.organization, record.name, record.removed_at])
    print({ text: table(['KIND', 'ID', 'ORGANIZATION', 'NAME', 'REMOVED'], rows), json: records })
  },
}

/** @throws the error of a wrong call, which names the kinds. */
export function kindOf(text: string): RemovableKind {
  const kind = REMOVABLE_KINDS.find((known) => known === text)
  if (!kind) throw wrongCall(`KIND is one of ${REMOVABLE_KINDS.join(', ')}`)
  return kind
}
