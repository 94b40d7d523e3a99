import { OPERATOR } from '../access/caller.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'
import { addFoundLater } from './add-counts.ts'
import { loadTrafficReading } from './load-traffic-reading.ts'
import { judgeOf, judgingBy } from './traffic-reader.ts'
import type { Judge, TrafficSummary } from './traffic-reading.ts'
import type { OutdatedUpload } from './traffic-upload.ts'

/** How long after they came files are judged again, while their bytes are kept, in milliseconds: 7 days. */
export const JUDGED_AGAIN_FOR = 7 * 24 * 60 * 60 * 1000

/** How long a process may take over one file before another may judge it, in milliseconds. */
const LEASE = 10 * 60 * 1000

type JudgePorts = Needs<'transact' | 'threatFeeds' | 'traffic' | 'files' | 'decompress' | 'now'>

/** What became of one upload that was judged again; `found` are the requests that are newly known as malicious. */
export type JudgedAgain = { upload: number } & ({ found: number } | { error: unknown })

/**
 * Judges the files of the last days again, when feeds gained entries since: what is found is added to the counts of its
 * blocker under its own time, marked as found later, and each organization is told once that all of its files were judged.
 * Each file is leased, so that several processes share the work; what one of them leaves undone, by an error or by its end,
 * is due again when the lease has ended.
 *
 * @param feeds what to judge by; older ones than those that gained entries do nothing.
 * @param onJudged told of each file.
 * @param mayGoOn asked between the pieces of a file.
 */
export async function judgeAgain(
  ports: JudgePorts,
  feeds: Judge,
  onJudged: (judged: JudgedAgain) => void,
  mayGoOn: () => boolean = () => true,
): Promise<void> {
  const version = await ports.threatFeeds.gainedVersion()
  const since = new Date(ports.now().getTime() - JUDGED_AGAIN_FOR).toISOString()
  if (feeds.version < version) return
  if (!(await ports.traffic.hasOutdated(version, since, ports.now().toISOString()))) return
  while (mayGoOn()) {
    const now = ports.now()
    const leaseUntil = new Date(now.getTime() + LEASE).toISOString()
    const upload = await ports.transact(({ traffic }) =>
      traffic.leaseOutdated(version, since, now.toISOString(), leaseUntil),
    )
    if (!upload) break
    try {
      const read = await readAgain(ports, feeds, upload, mayGoOn)
      if (!read) return
      if (await keep(ports, upload, leaseUntil, read)) onJudged({ upload: upload.id, found: read.malicious })
    } catch (error) {
      onJudged({ upload: upload.id, error })
    }
  }
  while (mayGoOn() && (await tellFoundLater(ports, version, since)));
}

/** What is new in the file; undefined when it was broken off. */
async function readAgain(
  ports: Needs<'files' | 'decompress'>,
  feeds: Judge,
  { services, raw, judgement }: OutdatedUpload,
  mayGoOn: () => boolean,
): Promise<Pick<TrafficSummary, 'malicious' | 'slots' | 'threats' | 'judgement'> | undefined> {
  if (services.length === 0) {
    return { malicious: 0, slots: [], threats: [], judgement: { ...judgement, version: feeds.version } }
  }
  const createTrafficReading = await loadTrafficReading()
  const reading = createTrafficReading(judgeOf(feeds, judgingBy(services)), judgement.malicious_lines)
  for await (const bytes of ports.decompress(ports.files.read(raw.file, 0, raw.size - 1))) {
    if (!mayGoOn()) return undefined
    reading.push(bytes)
  }
  return reading.end()
}

/** Stores it, unless the lease was lost, which somebody else then has. */
async function keep(
  ports: Needs<'transact'>,
  upload: OutdatedUpload,
  leaseUntil: string,
  read: Pick<TrafficSummary, 'malicious' | 'slots' | 'threats' | 'judgement'>,
): Promise<boolean> {
  return ports.transact(async (stores) => {
    if (!(await stores.traffic.finishJudging(upload.id, leaseUntil, read.judgement, read.malicious))) return false
    await addFoundLater(stores, upload.threat_blocker, read)
    return true
  })
}

/** Tells one organization; false when there is none to tell. */
async function tellFoundLater(ports: Needs<'transact' | 'now'>, version: number, since: string): Promise<boolean> {
  return ports.transact(async (stores) => {
    const found = await stores.traffic.takeFoundLater(version, since)
    if (!found) return false
    const { organization, ...details } = found
    await record(ports, stores, OPERATOR, { type: 'traffic.found_later', organization, record: organization, details })
    return true
  })
}
