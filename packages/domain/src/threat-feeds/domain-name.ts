import { pattern } from '../pattern.ts'
import { punycode } from './punycode.ts'
import { utf8Text } from './utf8-text.ts'

/** Longest name and longest label, in bytes (RFC 1035). */
export const MAX_NAME = 253
const MAX_LABEL = 63

const DOT = 0x2e

/** A name as its reader leaves it: the first `length` of `bytes`, in lower case, without a dot at its end. */
export type DomainName = { bytes: Uint8Array; length: number; labels: number }

/** An empty name, to be read into again and again. */
export function createDomainName(): DomainName {
  return { bytes: new Uint8Array(MAX_NAME + 1), length: 0, labels: 0 }
}

/** By byte: what it is in a name, in lower case; 0 for what no name has. */
const CHARACTERS = new Uint8Array(256)
for (const character of 'abcdefghijklmnopqrstuvwxyz0123456789-_.') {
  CHARACTERS[character.charCodeAt(0)] = character.charCodeAt(0)
  CHARACTERS[character.toUpperCase().charCodeAt(0)] = character.charCodeAt(0)
}

/**
 * Reads a domain name into `out`. Names in other scripts become what the DNS knows them as (`xn--…`). Underscores and
 * hyphens may stand anywhere, as they do in names that are really used. An address is no name.
 *
 * @returns whether there was one.
 */
export function readDomainName(bytes: Uint8Array, from: number, to: number, out: DomainName): boolean {
  out.length = 0
  let labels = 1
  let labelFrom = 0
  let hasLetter = false
  let length = 0
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] as number
    if (byte >= 0x80) return readForeignName(bytes, from, to, out)
    const character = CHARACTERS[byte] as number
    if (character === 0 || length > MAX_NAME) return false
    if (character === DOT) {
      if (length === labelFrom || length - labelFrom > MAX_LABEL) return false
      if (at + 1 === to) break
      labels += 1
      labelFrom = length + 1
      hasLetter = false
    } else if (character > 0x39) hasLetter = true
    out.bytes[length] = character
    length += 1
  }
  if (length === labelFrom || length - labelFrom > MAX_LABEL || length > MAX_NAME || !hasLetter) return false
  out.length = length
  out.labels = labels
  return true
}

const ASCII = /^[\0-\x7f]*$/
const foreignLabel = pattern(String.raw`^[\p{L}\p{N}-][\p{L}\p{M}\p{N}-]*$`, 'u')

function readForeignName(bytes: Uint8Array, from: number, to: number, out: DomainName): boolean {
  if (to - from > 4 * MAX_NAME) return false
  const text = utf8Text(bytes, from, to).normalize('NFKC').replaceAll('。', '.')
  // Character by character: the end of a word has no letter case of its own here (final sigma).
  const labels = Array.from(text, (character) => character.toLowerCase())
    .join('')
    .normalize('NFC')
    .split('.')
  if (!labels.every((label) => ASCII.test(label) || foreignLabel().test(label))) return false
  const name = labels.map((label) => (ASCII.test(label) ? label : `xn--${punycode(label)}`)).join('.')
  const ascii = Uint8Array.from(name, (character) => character.charCodeAt(0))
  return readDomainName(ascii, 0, ascii.length, out)
}
