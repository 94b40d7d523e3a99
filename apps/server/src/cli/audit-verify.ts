import { createReadStream } from 'node:fs'
import { type Verification, verifyEvents, verifyExport } from '@security-management/domain'
import { systemSurroundings } from '@security-management/domain/memory'
import { type Command, wrongCall } from './command.ts'
import { explain } from './explain.ts'

/** Names the first row of the audit trail that was edited, removed or reordered. */
export const auditVerifyCommand: Command = {
  name: 'audit verify',
  about: 'names the first edited, removed or reordered row of the audit trail, or of an export of it',
  args: ['[FILE.jsonl]'],
  options: {
    'expect-head': { value: 'HASH', about: 'a hash noted earlier, which a row must have' },
  },
  async run({ args: [file], values, withPorts, print, progress }) {
    const expected = values['expect-head']?.toLowerCase()
    if (expected !== undefined && !/^[0-9a-f]{64}$/.test(expected)) {
      throw wrongCall('--expect-head takes the hash of a row: 64 hexadecimal digits')
    }
    const verification =
      file === undefined
        ? await withPorts(({ ports }) => verifyEvents(ports, expected, progress('verifying the audit trail')))
        : await verifyExport(systemSurroundings(), linesOf(file), expected)
    const { rows, head, flaw } = verification
    const what = file ?? 'the audit trail'
    if (flaw) {
      print({ text: '', json: verification })
      throw new Error(`${what}: row ${flaw.position} ${flaw.reason}; ${rightRows(verification)} before it`)
    }
    print({
      text: `${what} is whole: ${rows} rows, the newest is ${head.position} with the hash ${head.hash}`,
      json: verification,
    })
  },
}

function rightRows({ rows }: Verification): string {
  return rows === 1 ? '1 row is right' : `${rows} rows are right`
}

/** The lines of a file. `readline` would split at U+2028 as well, which JSON may hold as it is. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = ''
  const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: 1024 * 1024 })
  try {
    for await (const text of stream) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    throw new Error(`${path} cannot be read: ${explain(error)}`)
  }
  if (rest !== '') yield rest
}
