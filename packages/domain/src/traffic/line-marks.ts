/**
 * Lines of a file that can be marked: 2 MiB of marks. A file of 256 MiB has more of them only where its lines have less than
 * 16 bytes, which is no log.
 */
export const MAX_MARKED = 2 ** 24

/**
 * Marks on the lines of a file, by their place in it from 0 on. As bytes: one bit a line, the lowest bit of a byte first;
 * the lines past the end have no mark.
 */
export type LineMarks = {
  has(line: number): boolean
  add(line: number): void
  bytes(): Uint8Array
}

/**
 * @param bytes the marks to begin with, which are left as they are. Where there are any, lines that could not be marked
 *   are taken for marked.
 */
export function createLineMarks(bytes?: Uint8Array): LineMarks {
  let marks = Uint8Array.from(bytes ?? [])
  let length = marks.length
  return {
    has(line) {
      if (line >= MAX_MARKED) return bytes !== undefined
      return ((marks[line >>> 3] ?? 0) & (1 << (line & 7))) !== 0
    },
    add(line) {
      if (line >= MAX_MARKED) return
      const at = line >>> 3
      if (at >= marks.length) {
        const larger = new Uint8Array(Math.max(64, 2 * at))
        larger.set(marks)
        marks = larger
      }
      if (at >= length) length = at + 1
      marks[at] = (marks[at] ?? 0) | (1 << (line & 7))
    },
    bytes: () => marks.slice(0, length),
  }
}
