import { isUtf8 } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type DomainError, invalid, MAX_DEPTH } from '@security-management/domain'

/** Bytes that are parsed in one turn of the event loop: some milliseconds, whatever they hold. */
const PART = 128 * 1024

/** Names that an object may have. No record has nearly as many, and each costs a parser far more than an item of an array. */
const MAX_NAMES = 10_000

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Parses a JSON text to the value that `JSON.parse` makes of it, a part at a time, with a turn of the event loop between.
 *
 * @param maxValues that the text may hold.
 * @param part bytes that are parsed at a time; a text, or a member's name, may be longer.
 * @throws DomainError `invalid`: nested too deep, too many values or names, not UTF-8, or not JSON.
 */
export async function parseJson(bytes: Uint8Array, maxValues: number, part = PART): Promise<unknown> {
  const { depth, values, names } = measured(bytes)
  if (depth > MAX_DEPTH) throw invalid('', `The body is nested more than ${MAX_DEPTH} levels deep`)
  if (values > maxValues) throw invalid('', `The body holds more than ${maxValues} values`)
  if (names > MAX_NAMES) throw invalid('', `An object of the body has more than ${MAX_NAMES} names`)
  if (!isUtf8(bytes)) throw invalid('', 'The body is not UTF-8')
  return createParser(bytes, part).whole()
}

/** How deep and wide a JSON text is, found from its bytes before a parser builds anything of them. */
function measured(bytes: Uint8Array): { depth: number; values: number; names: number } {
  // By depth: the names of the object that is open there; 0 for an array.
  const open = new Int32Array(MAX_DEPTH + 1)
  let names = 0
  let depth = 0
  let deepest = 0
  let values = 1
  let inString = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (inString) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) inString = true
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      depth += 1
      values += 1
      if (depth > deepest) deepest = depth
      open[depth] = byte === OPEN_OBJECT ? 1 : 0
    } else if (byte === COMMA) {
      values += 1
      if ((open[depth] as number) > 0) {
        open[depth] = (open[depth] as number) + 1
        names = Math.max(names, open[depth] as number)
      }
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1
  }
  return { depth: deepest, values, names }
}

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * `JSON.parse` does all of the reading. What stands here only finds where a text can be cut: at the commas of arrays and
 * objects that are larger than a part.
 */
function createParser(bytes: Uint8Array, part: number) {
  let parsed = 0

  /** The value of these bytes within brackets, if any; counted, so that no turn parses much more than a part. */
  async function parseText(from: number, to: number, open = '', close = ''): Promise<unknown> {
    parsed += to - from
    if (parsed > part) {
      await nextTurn()
      parsed = to - from
    }
    try {
      return JSON.parse(open + UTF8.decode(bytes.subarray(from, to)) + close)
    } catch (error) {
      const where = from === 0 ? '' : `, after byte ${from}`
      throw invalid('', `The body is not JSON: ${error instanceof Error ? error.message : error}${where}`)
    }
  }

  /** Where the member that begins at `at` ends, at a comma, a bracket or the end of all; undefined if `limit` is before. */
  function endOfMember(at: number, limit: number): number | undefined {
    const stop = Math.min(limit, bytes.length)
    let depth = 0
    for (let index = at; index < stop; index += 1) {
      const byte = bytes[index]
      if (byte === QUOTE) index = endOfText(index, stop)
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth += 1
      else if (depth === 0 && (byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT)) return index
      else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1
    }
    return limit < bytes.length ? undefined : bytes.length
  }

  /** Where the closing quote of a text is; `limit` if it is not before that. */
  function endOfText(quote: number, limit: number): number {
    for (let index = quote + 1; index < limit; index += 1) {
      if (bytes[index] === BACKSLASH) index += 1
      else if (bytes[index] === QUOTE) return index
    }
    return limit
  }

  function afterSpace(from: number): number {
    let at = from
    while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1
    return at
  }

  /** The value that begins at `at`, and where what belongs to it ends. */
  async function valueAt(at: number): Promise<{ value: unknown; end: number }> {
    const isLarge = endOfMember(at, at + part) === undefined
    if (isLarge && bytes[at] === OPEN_ARRAY) return arrayAt(at)
    if (isLarge && bytes[at] === OPEN_OBJECT) return objectAt(at)
    const end = endOfMember(at, bytes.length) ?? bytes.length
    return { value: await parseText(at, end), end }
  }

  async function arrayAt(at: number): Promise<{ value: unknown[]; end: number }> {
    const value: unknown[] = []
    const end = await membersAt(at, {
      close: CLOSE_ARRAY,
      async small(from, to) {
        const items = (await parseText(from, to, '[', ']')) as unknown[]
        for (const item of items) value.push(item)
        return items.length
      },
      async large(from) {
        const item = await valueAt(from)
        value.push(item.value)
        return item.end
      },
    })
    return { value, end }
  }

  async function objectAt(at: number): Promise<{ value: object; end: number }> {
    const value: { [name: string]: unknown } = {}
    const end = await membersAt(at, {
      close: CLOSE_OBJECT,
      async small(from, to) {
        const members = Object.entries((await parseText(from, to, '{', '}')) as object)
        for (const [name, member] of members) setOwn(value, name, member)
        return members.length
      },
      async large(from) {
        if (bytes[from] !== QUOTE) throw malformed(from)
        const endOfName = endOfText(from, bytes.length) + 1
        const name = (await parseText(from, endOfName)) as string
        const colon = afterSpace(endOfName)
        if (bytes[colon] !== COLON) throw malformed(colon)
        const member = await valueAt(afterSpace(colon + 1))
        setOwn(value, name, member.value)
        return member.end
      },
    })
    return { value, end }
  }

  /** Reads the members of what opens at `at`, as many small ones together as make a part; returns the end of it. */
  async function membersAt(
    at: number,
    container: {
      close: number
      /** Takes members between commas; returns how many there are. */
      small(from: number, to: number): Promise<number>
      /** Takes the one that begins here, and returns its end. */
      large(from: number): Promise<number>
    },
  ): Promise<number> {
    const { close, small, large } = container
    const first = afterSpace(at + 1)
    let from = first
    let to = from
    for (;;) {
      const end = endOfMember(to, from + part)
      if (end === undefined && to === from) {
        const endOfLarge = afterSpace(await large(from))
        if (bytes[endOfLarge] === close) return endOfLarge + 1
        if (bytes[endOfLarge] !== COMMA) throw malformed(endOfLarge)
        from = afterSpace(endOfLarge + 1)
        to = from
      } else if (end !== undefined && bytes[end] === COMMA) {
        to = end + 1
      } else {
        // Those up to the comma before a large one, or the last ones.
        const isLast = end !== undefined
        const count = await small(from, end ?? to - 1)
        if (isLast && bytes[end] !== close) throw malformed(end)
        if (count === 0 && !(isLast && from === first)) throw malformed(from)
        if (isLast) return end + 1
        from = afterSpace(to)
        to = from
      }
    }
  }

  return {
    async whole(): Promise<unknown> {
      const start = BYTE_ORDER_MARK.equals(bytes.subarray(0, 3)) ? 3 : 0
      if (bytes.length <= part) return parseText(start, bytes.length)
      const { value, end } = await valueAt(afterSpace(start))
      const rest = afterSpace(end)
      if (rest < bytes.length) throw malformed(rest)
      return value
    },
  }
}

function malformed(at: number): DomainError {
  return invalid('', `The body is not JSON: Unexpected at byte ${at}`)
}

/** As `JSON.parse` does: a member of any name is the object's own. */
function setOwn(object: { [name: string]: unknown }, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}
