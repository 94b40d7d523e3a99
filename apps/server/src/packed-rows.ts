/** Rows that one text has: what is made of it at a time. */
const ROWS = 250

/**
 * Rows as texts, for a message to another thread: whoever gets very many values by a message stands still until all of them
 * are made, while a text is copied in a moment.
 */
export function packRows(rows: readonly unknown[]): string[] {
  const texts: string[] = []
  for (let from = 0; from < rows.length; from += ROWS) texts.push(JSON.stringify(rows.slice(from, from + ROWS)))
  return texts
}

/** The rows again, each time they are gone through; only those that were come to are made. */
export function unpackRows<Row>(texts: readonly string[]): Iterable<Row> {
  return {
    *[Symbol.iterator]() {
      for (const text of texts) yield* JSON.parse(text) as Row[]
    },
  }
}
