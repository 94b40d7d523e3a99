/** Rows that one piece has: what is made of it at a time. */
const ROWS = 250

const ENCODER = new TextEncoder()
const DECODER = new TextDecoder()

/**
 * Rows as bytes, in pieces of JSON, for a message to another thread: whoever gets very many values by a message stands still
 * until all of them are made, while the memory of bytes is handed over as it is. And bytes are not in the way of the garbage
 * collectors of both.
 */
export function packRows(rows: readonly unknown[]): Uint8Array<ArrayBuffer>[] {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  for (let from = 0; from < rows.length; from += ROWS) {
    pieces.push(ENCODER.encode(JSON.stringify(rows.slice(from, from + ROWS))))
  }
  return pieces
}

/** The rows again, each time they are gone through; only those that were come to are made. */
export function unpackRows<Row>(pieces: readonly Uint8Array[]): Iterable<Row> {
  return {
    *[Symbol.iterator]() {
      for (const bytes of pieces) yield* JSON.parse(DECODER.decode(bytes)) as Row[]
    },
  }
}
