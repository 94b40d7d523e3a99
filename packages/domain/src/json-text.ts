import type { Needs } from './ports.ts'

/** Weight of what is written in one turn of the event loop: a few milliseconds. */
const PART = 5000

/** Characters of a text that weigh as much as one value more. */
const TEXT = 256

/**
 * The text that `JSON.stringify` makes of JSON data, in pieces: each is written when it is asked for, and takes a few
 * milliseconds, however large the data is. What is undefined is left out of an object, and null in an array.
 */
export function* jsonPieces(value: unknown): Generator<string> {
  if (weightOf(value, PART) < PART || typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null'
  else if (Array.isArray(value)) yield* piecesOfArray(value)
  else yield* piecesOfObject(value)
}

/**
 * The text that `JSON.stringify` makes of JSON data, with a turn of the event loop between its pieces.
 *
 * @param onPiece is told each as it is written; what it throws ends the writing.
 */
export async function jsonInParts(
  ports: Needs<'nextTurn'>,
  value: unknown,
  onPiece: (piece: string) => void = () => {},
): Promise<string> {
  let text = ''
  for await (const piece of jsonTurns(ports, value)) {
    onPiece(piece)
    text += piece
  }
  return text
}

/** Bytes of a well-formed text as UTF-8. */
export function utf8Length(text: string): number {
  // A regular expression passes over ASCII several times faster than a loop.
  const wide = /[^\0-\x7f]/g
  let bytes = text.length
  for (let found = wide.exec(text); found; found = wide.exec(text)) {
    let at = found.index
    for (let unit = text.charCodeAt(at); unit > 0x7f; unit = text.charCodeAt(at)) {
      // The two units of a pair are four bytes.
      bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2
      at += 1
    }
    wide.lastIndex = at
  }
  return bytes
}

/** The pieces, with a turn of the event loop between. */
export async function* jsonTurns({ nextTurn }: Needs<'nextTurn'>, value: unknown): AsyncGenerator<string> {
  let isFirst = true
  for (const piece of jsonPieces(value)) {
    if (!isFirst) await nextTurn()
    isFirst = false
    yield piece
  }
}

function* piecesOfArray(array: unknown[]): Generator<string> {
  let open = '['
  for (let from = 0, to = 0; to < array.length; from = to) {
    let weight = 0
    while (to < array.length && weight < PART) {
      weight += weightOf(array[to], PART)
      to += 1
    }
    // The last of them may be too large to be written with the others.
    const isLarge = weight >= PART && weightOf(array[to - 1], PART) >= PART
    const small = array.slice(from, isLarge ? to - 1 : to)
    if (small.length > 0) {
      yield open + JSON.stringify(small).slice(1, -1)
      open = ','
    }
    if (isLarge) {
      yield open
      yield* jsonPieces(array[to - 1])
      open = ','
    }
  }
  yield open === '[' ? '[]' : ']'
}

function* piecesOfObject(object: object): Generator<string> {
  let text = '{'
  let weight = 0
  let isFirst = true
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined) continue
    text += `${isFirst ? '' : ','}${JSON.stringify(name)}:`
    isFirst = false
    weight += weightOf(value, PART)
    if (weight < PART) {
      text += JSON.stringify(value)
      continue
    }
    yield text
    yield* jsonPieces(value)
    text = ''
    weight = 0
  }
  yield `${text}}`
}

/** What it takes to write the value, counted up to about `most`. */
function weightOf(value: unknown, most: number): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / TEXT)
  if (typeof value !== 'object' || value === null) return 1
  let weight = 1
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && weight < most; at += 1) weight += weightOf(value[at], most - weight)
  } else {
    for (const name in value) {
      if (weight >= most) break
      weight += 1 + weightOf((value as { [name: string]: unknown })[name], most - weight)
    }
  }
  return weight
}
