import type { Random } from './random.ts'

/** A request as it will be written, before it is bytes; every part of it may be wrong. */
export type Message = {
  method: string
  target: string
  version: string
  /** In their order, repeated where the request repeats them; no `Content-Length`, no `Transfer-Encoding`. */
  headers: [name: string, value: string][]
  body: Buffer
  /** Writes the headers that say where the body ends, and the body. Without one it is a length, where there is a body. */
  frame?: (body: Buffer) => Buffer
  /** The JSON text that the body holds, or its part `data`, where it is one. */
  json?: string
  /** Whether JSON goes into a form. */
  form?: boolean
  /**
   * What must come back. `one`: one answer. `some`: any number of answers and the end of the connection, because the
   * bytes are no HTTP, or their sender goes away.
   */
  expected: 'one' | 'some'
  /** The bytes as they are, whatever else is said here. */
  raw?: Buffer
  /** How many bytes of it are sent before the sender goes away; all, where it is not said. */
  cut?: number
  /** What was done to it. */
  done: string[]
}

/** The value of a header, by its name in any case. */
export function headerOf({ headers }: Message, name: string): string | undefined {
  return headers.find(([given]) => given.toLowerCase() === name.toLowerCase())?.[1]
}

/** Replaces a header, in its place. */
export function setHeader(message: Message, name: string, value: string): void {
  const header = message.headers.find(([given]) => given.toLowerCase() === name.toLowerCase())
  if (header) header[1] = value
  else message.headers.push([name, value])
}

/** The bytes of a message. */
export function bytesOf(message: Message): Buffer {
  const { method, target, version, headers, raw } = message
  if (raw) return raw
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = Buffer.from(`${method} ${target} ${version}\r\n${lines}`, 'latin1')
  const body = message.json === undefined ? message.body : Buffer.from(message.json)
  return Buffer.concat([head, (message.frame ?? byLength)(body)])
}

export function byLength(body: Buffer): Buffer {
  const length = body.length > 0 ? `Content-Length: ${body.length}\r\n` : ''
  return Buffer.concat([Buffer.from(`${length}\r\n`), body])
}

/** The body in chunks of the sizes that `random` makes up. */
export function inChunks(body: Buffer, random: Random): Buffer {
  const pieces: Uint8Array[] = [Buffer.from('Transfer-Encoding: chunked\r\n\r\n')]
  for (let from = 0; from < body.length; ) {
    const piece = body.subarray(from, from + random.between(1, Math.max(1, Math.ceil(body.length / 3))))
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
    from += piece.length
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])
}
