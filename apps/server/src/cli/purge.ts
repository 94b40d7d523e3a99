import { listRemovedRecords, type Ports, type PurgeCounts, purgeRemovedRecords } from '@security-management/domain'
import { DURATION, DURATION_TAKES, millisecondsOf } from '../duration.ts'
import { type Command, wrongCall } from './command.ts'
import type { OnProgress } from './progress.ts'

/** Erases for good what was removed long ago. */
export const purgeCommand: Command = {
  name: 'purge',
  about:
    'erases for good what was removed before a time, with its documents and traffic; the audit trail keeps its rows',
  options: {
    'older-than': {
      value: 'AGE',
      about: 'since when it must have been removed, in days or hours (90d, 12h)',
      required: true,
    },
    'dry-run': { about: 'only counts what would go' },
  },
  async run({ values, flags, withPorts, print, progress }) {
    const age = values['older-than'] ?? ''
    if (!DURATION.test(age)) throw wrongCall(`--older-than ${DURATION_TAKES}`)
    const isDry = flags.has('dry-run')
    const { before, counts } = await withPorts(async ({ ports }) => {
      const before = new Date(ports.now().getTime() - millisecondsOf(age)).toISOString()
      const found = await countRemoved(ports, before)
      return { before, counts: isDry ? found : await purge(ports, before, found, progress('purging')) }
    })
    const what = Object.entries(counts).map(([kind, count]) => `${kind} ${count}`)
    const text = `${isDry ? 'would purge' : 'purged'} what was removed before ${before}: ${what.join(', ') || 'nothing'}`
    print({ text, json: { before, dry_run: isDry, purged: counts } })
  },
}

async function purge(ports: Ports, before: string, found: PurgeCounts, onProgress: OnProgress): Promise<PurgeCounts> {
  const total = Object.values(found).reduce((sum, count) => sum + count, 0)
  let done = 0
  const counts = await purgeRemovedRecords(ports, before, () => {
    done += 1
    onProgress(done, total)
  })
  // What was removed by itself went with its organization, so that fewer are told of than were counted.
  onProgress(total, total)
  return counts
}

async function countRemoved(ports: Ports, before: string): Promise<PurgeCounts> {
  const counts: PurgeCounts = {}
  for await (const { kind } of listRemovedRecords(ports, undefined, before)) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
