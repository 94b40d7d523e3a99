import { DomainError } from '../errors.ts'
import type { Utf8Decoder } from '../ports.ts'
import { readTrafficLine, type TrafficLine, type UnreadableLine } from './traffic-line.ts'

/** Keys under which an object may hold the array of lines (decisions.md §4, Traffic file). */
const WRAPPERS = new Set(['lines', 'logs', 'events', 'entries', 'records', 'data'])

/** Longest line, and longest beginning of a file before its shape is known, in characters. */
const MAX_LINE_LENGTH = 1024 * 1024

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const NEWLINE = 0x0a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Reads a traffic file as it comes and yields what each of its lines says, in order. Shapes, told apart by the bytes:
 * an array of lines; an object around one array; one line object; one JSON value a row.
 *
 * @throws DomainError `invalid` when the file is none of these. The lines before the fault were yielded by then, so
 *   nothing may be stored before the end.
 */
export async function* readTraffic(
  decoder: Utf8Decoder,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<TrafficLine | UnreadableLine> {
  const splitter = createSplitter()
  for await (const bytes of content) {
    for (const text of splitter.push(decoder.decode(bytes))) yield lineOf(text)
  }
  for (const text of splitter.push(decoder.end())) yield lineOf(text)
  for (const text of splitter.end()) yield lineOf(text)
}

/** The JSON text of one line; undefined where the row of a file of rows is longer than a line may be. */
type LineText = string | undefined

function lineOf(text: LineText): TrafficLine | UnreadableLine {
  if (text === undefined) return { reason: `longer than ${MAX_LINE_LENGTH} characters` }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { reason: 'no JSON' }
  }
  return readTrafficLine(value)
}

/**
 * Cuts a JSON text into the texts of its lines.
 *
 * `start`: nothing but white space so far. `object`: inside a first object that may turn out to be a line or a wrapper.
 * `items`: inside the array of lines. `rows`: one JSON value a row. `tail`: after the array, inside its wrapper if there
 * is one. `single`: after a first value that filled no row of its own, so that no other may follow.
 */
function createSplitter() {
  let mode: 'start' | 'object' | 'items' | 'rows' | 'tail' | 'single' = 'start'
  let text = ''
  let at = 0
  let depth = 0
  let inString = false
  let escaped = false
  /** Where the string began that was read last, at depth 1 of the first object: perhaps a key. */
  let key = { from: -1, to: -1 }
  let itemFrom = 0
  /** The text of the object around the array, up to the array; null where there is none. */
  let wrapper: string | null = null
  let skipping = false
  let hadItem = false
  let rows = 0
  let firstRow = ''

  /** Moves past the character at `at` as far as strings are concerned; true if it was part of one. */
  function string(code: number): boolean {
    if (!inString) {
      if (code !== QUOTE) return false
      inString = true
      if (depth === 1) key = { from: at, to: -1 }
      return true
    }
    if (escaped) escaped = false
    else if (code === BACKSLASH) escaped = true
    else if (code === QUOTE) {
      inString = false
      if (depth === 1) key.to = at + 1
    }
    return true
  }

  /** The text from `itemFrom` up to `to`. However the file was cut, what is too long is refused. */
  function taken(to: number): string {
    if (to - itemFrom > MAX_LINE_LENGTH) throw malformed(`a value is longer than ${MAX_LINE_LENGTH} characters`)
    return text.slice(itemFrom, to)
  }

  function takeItem(to: number): string {
    const item = taken(to).trim()
    if (item === '') throw malformed('an array has an empty item')
    mustParse(item)
    return item
  }

  function* items(): Generator<LineText> {
    const base = wrapper === null ? 1 : 2
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (string(code)) continue
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1
      else if (code === CLOSE_OBJECT) depth -= 1
      else if (code === COMMA && depth === base) {
        yield takeItem(at)
        itemFrom = at + 1
      } else if (code === CLOSE_ARRAY) {
        depth -= 1
        if (depth < base) {
          if (hadItem || taken(at).trim() !== '') yield takeItem(at)
          at += 1
          itemFrom = at
          mode = 'tail'
          return
        }
      }
      if (depth < base) throw malformed('brackets do not match')
    }
    taken(at)
  }

  /** Looks through the first object until it shows whether it is a line or has the array of lines. */
  function object(): LineText[] {
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (string(code)) continue
      if (code === OPEN_ARRAY && depth === 1 && isWrapperKey()) {
        wrapper = taken(at)
        depth += 1
        at += 1
        itemFrom = at
        mode = 'items'
        return []
      }
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1
      else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
        depth -= 1
        if (depth === 0) {
          at += 1
          const line = taken(at)
          mustParse(line)
          mode = 'single'
          return [line]
        }
      }
    }
    taken(at)
    return []
  }

  function isWrapperKey(): boolean {
    if (key.to < 0) return false
    const between = text.slice(key.to, at).trim()
    return between.length === 1 && between.charCodeAt(0) === COLON && WRAPPERS.has(text.slice(key.from + 1, key.to - 1))
  }

  function* rowTexts(final: boolean): Generator<LineText> {
    for (;;) {
      const end = text.indexOf('\n', at)
      if (end < 0 && !final) break
      const to = end < 0 ? text.length : end
      const row = text.slice(at, to).trim()
      if (skipping || to - at > MAX_LINE_LENGTH) {
        if (rows === 0) throw malformed('too long for one line')
        skipping = false
        rows += 1
        yield undefined
      } else if (row !== '') {
        if (rows === 0) {
          mustParse(row)
          firstRow = row
        }
        rows += 1
        yield row
      }
      if (end < 0) {
        at = text.length
        return
      }
      at = end + 1
    }
    if (text.length - at > MAX_LINE_LENGTH) {
      if (rows === 0) throw malformed('too long for one line')
      skipping = true
      at = text.length
    }
    itemFrom = at
  }

  function start(): void {
    while (at < text.length && /\s|\uFEFF/.test(text[at] as string)) at += 1
    if (at >= text.length) return
    const code = text.charCodeAt(at)
    itemFrom = at
    if (code === OPEN_ARRAY) {
      mode = 'items'
      depth = 1
      at += 1
      itemFrom = at
    } else if (code === OPEN_OBJECT) {
      mode = 'object'
      depth = 1
      at += 1
    } else {
      mode = 'rows'
    }
  }

  /** After the one object: white space alone, or, from a new row on, further rows. */
  function afterSingle(): void {
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (code === NEWLINE) {
        mode = 'rows'
        rows = 1
        firstRow = '{'
        return
      }
      if (!/\s/.test(text[at] as string)) throw malformed('more than one value in a row')
    }
  }

  /** After the array: white space alone, or the rest of the object around it, which is parsed at the end. */
  function tail(): void {
    for (; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      if (wrapper === null) {
        if (!/\s/.test(text[at] as string)) throw malformed('something follows the end')
      } else if (!string(code)) {
        if (code === OPEN_ARRAY && depth === 1 && isWrapperKey()) throw malformed('more than one array of lines')
        if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth += 1
        else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth -= 1
      }
    }
    if (wrapper !== null) taken(at)
  }

  function* push(more: string): Generator<LineText> {
    text += more
    while (at < text.length) {
      const before = mode
      if (mode === 'start') start()
      else if (mode === 'object') yield* object()
      else if (mode === 'items') {
        for (const item of items()) {
          hadItem = true
          yield item
        }
      } else if (mode === 'rows') {
        yield* rowTexts(false)
        break
      } else if (mode === 'single') afterSingle()
      else tail()
      if (before === mode) break
    }
    // What was read is let go; in these modes what begins at `itemFrom` is still needed.
    const isNeeded = mode === 'items' || mode === 'object' || (mode === 'tail' && wrapper !== null)
    const gone = isNeeded ? itemFrom : at
    text = text.slice(gone)
    at -= gone
    itemFrom -= gone
    key = { from: key.from - gone, to: key.to - gone }
  }

  function* end(): Generator<LineText> {
    if (mode === 'rows') {
      yield* rowTexts(true)
      if (rows === 1 && !firstRow.startsWith('{')) throw malformed('one value that is no line')
      return
    }
    if (mode === 'single') return
    if (mode === 'tail') {
      if (wrapper !== null) mustParse(`${wrapper}[]${text.slice(itemFrom)}`)
      return
    }
    throw malformed(mode === 'start' ? 'nothing in it' : 'it ends in the middle')
  }

  return { push, end }
}

function mustParse(text: string): void {
  try {
    JSON.parse(text)
  } catch {
    throw malformed('no JSON')
  }
}

function malformed(reason: string): DomainError {
  return new DomainError('invalid', [{ path: '', message: `Not a traffic file: ${reason}` }])
}
