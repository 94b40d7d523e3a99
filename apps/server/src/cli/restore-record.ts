import { DomainError, Id, restoreRecord } from '@security-management/domain'
import * as v from 'valibot'
import { type Command, wrongCall } from './command.ts'
import { kindOf } from './removed-list.ts'

/** Undoes a removal. */
export const restoreRecordCommand: Command = {
  name: 'restore-record',
  about: 'undoes the removal of a record, see removed list',
  args: ['KIND', 'ID'],
  async run({ args: [text = '', digits = ''], withPorts, print }) {
    const kind = kindOf(text)
    const id = Number(digits)
    if (!/^\d+$/.test(digits) || !v.is(Id, id))
      throw wrongCall('ID is the number of a removed record, see removed list')
    const restored = await withPorts(async ({ ports }) => {
      try {
        return await restoreRecord(ports, kind, id)
      } catch (error) {
        if (error instanceof DomainError && error.code === 'not_found') {
          throw new Error(`There is no ${kind} ${id} that was removed`)
        }
        throw error
      }
    })
    const { organization, name } = restored
    print({ text: `restored ${kind} ${id} (${name})`, json: { kind, id, organization, name, restored: true } })
  },
}
