// What one writes without much thought: reads line by line and counts by the hour.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

const COMBINED = /^(\S+) \S+ \S+ \[([^\]]+)\] "[^"]*" (\d{3})/
const hours = new Map()

for await (const row of createInterface({ input: createReadStream(process.argv[2]) })) {
  const text = row.replace(/^\[|[,\]]$/g, '')
  if (text === '') continue
  const line = JSON.parse(text)
  const hour = typeof line === 'string' ? COMBINED.exec(line)?.[2]?.slice(0, 14) : line.timestamp.slice(0, 13)
  hours.set(hour, (hours.get(hour) ?? 0) + 1)
}
process.stdout.write(`${hours.size}\n`)
