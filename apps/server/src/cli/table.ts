/** Rows under headings, each column as wide as its widest cell. */
export function table(headings: string[], rows: (string | number | null)[][]): string {
  const lines = [headings, ...rows.map((row) => row.map((cell) => oneLine(String(cell ?? '-'))))]
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => width(line[column] ?? ''))))
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - width(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function width(cell: string): number {
  return [...cell].length
}

/** Names may hold line breaks. */
function oneLine(cell: string): string {
  return cell.replace(/\s+/g, ' ')
}
