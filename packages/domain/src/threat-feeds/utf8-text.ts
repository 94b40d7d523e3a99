/** The text of UTF-8 bytes `from`…`to` (exclusive); each byte that is none becomes U+FFFD. */
export function utf8Text(bytes: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let at = from; at < to; ) {
    const length = lengthOf(bytes[at] as number)
    const code = at + length <= to ? codeAt(bytes, at, length) : -1
    text += code < 0 ? '\ufffd' : String.fromCodePoint(code)
    at += code < 0 ? 1 : length
  }
  return text
}

/** Bytes of the character that begins with this one; 0 where none does. */
function lengthOf(first: number): number {
  if (first < 0x80) return 1
  if (first < 0xc2 || first > 0xf4) return 0
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
}

const LEAST = [0, 0, 0x80, 0x800, 0x10000]

function codeAt(bytes: Uint8Array, at: number, length: number): number {
  if (length === 0) return -1
  const first = bytes[at] as number
  if (length === 1) return first
  let code = first & (0x7f >> length)
  for (let next = at + 1; next < at + length; next += 1) {
    const byte = bytes[next] as number
    if (byte >> 6 !== 2) return -1
    code = (code << 6) | (byte & 0x3f)
  }
  const isSurrogate = code >= 0xd800 && code <= 0xdfff
  return code < (LEAST[length] as number) || code > 0x10ffff || isSurrogate ? -1 : code
}
