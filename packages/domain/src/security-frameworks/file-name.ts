import * as v from 'valibot'
import { pattern } from '../pattern.ts'

/** Characters of a stored file name; what is longer is cut before its extension. */
const MAX_LENGTH = 200

/** Characters of a sent name that are looked at, extension included. */
const READ_LENGTH = 1024

// Control characters (bidirectional marks and other invisible formats among them), path and shell specials, and what
// some file systems refuse.
const unsafe = pattern(String.raw`[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]+`, 'gu')

/**
 * The name of a file, made safe to store, to show and to send back: whatever was sent, the result has no directory, no
 * control or formatting character, no dot at either end, and at most 200 characters.
 */
export function safeFileName(sent: string): string {
  const lastPart = (sent.split(/[/\\]/).at(-1) ?? '').slice(0, READ_LENGTH)
  const cleaned = lastPart.replace(unsafe(), '_').replace(/^[.\s_]+|[.\s]+$/g, '')
  if (cleaned === '') return 'file'
  const extension = extensionOf(cleaned)
  const stem = extension ? cleaned.slice(0, -extension.length - 1) : cleaned
  const room = MAX_LENGTH - (extension ? extension.length + 1 : 0)
  const cut = [...stem]
    .slice(0, room)
    .join('')
    .replace(/[.\s]+$/, '')
  return extension ? `${cut}.${extension}` : cut
}

/** The extension of a safe file name: 1 to 10 ASCII letters or digits, in lower case; `""` for none. */
export function extensionOf(name: string): string {
  return /[^.]\.([0-9a-z]{1,10})$/i.exec(name)?.[1]?.toLowerCase() ?? ''
}

/** A file name as sent by a client: something must be there; it is made safe. */
export const FileName = v.pipe(v.string(), v.nonEmpty('A file name is required'), v.transform(safeFileName))
