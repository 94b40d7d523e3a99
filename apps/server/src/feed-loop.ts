import {
  type FeedFetcher,
  type FeedRefresh,
  type Judge,
  judgeAgain,
  type LoadedThreatIndex,
  loadThreatIndex,
  type Needs,
  openThreatIndex,
  refreshDueThreatFeeds,
} from '@security-management/domain'
import type { Log } from './log.ts'
import { type Repeating, repeat } from './repeat.ts'

/** How often to look for feeds and files that are due, and for changes by other processes, in milliseconds. */
const REFRESH_EVERY = 10_000
const WATCH_EVERY = 2000
const JUDGE_EVERY = 10_000

/**
 * Keeps the threat feeds fresh in the background, loads the index anew whenever a feed has changed or expired, whoever
 * changed it, and judges the files of the last days again when feeds gained entries.
 *
 * @param onIndex told of the first index, and of each that takes its place.
 */
export function startFeedLoop(
  ports: Needs<'transact' | 'threatFeeds' | 'traffic' | 'files' | 'decompress' | 'now' | 'newSha256'>,
  fetcher: FeedFetcher,
  log: Log,
  onIndex: (loaded: LoadedThreatIndex) => void,
  { refreshEvery = REFRESH_EVERY, watchEvery = WATCH_EVERY, judgeEvery = JUDGE_EVERY } = {},
): Pick<Repeating, 'stop'> {
  let stopped = false
  let present: { feeds: Judge; stale_at: string | null } | undefined

  async function refreshDue(): Promise<void> {
    const due = await ports.threatFeeds.nextDue()
    if (due === undefined || due > ports.now().toISOString()) return
    await refreshDueThreatFeeds(
      ports,
      fetcher,
      (refresh) => {
        tell(log, refresh)
        if (refresh.outcome === 'updated') watching.wake()
      },
      () => !stopped,
    )
  }

  async function watch(): Promise<void> {
    const isPresent = present?.feeds.version === (await ports.threatFeeds.version())
    const isStale = (present?.stale_at ?? null) !== null && (present?.stale_at ?? '') <= ports.now().toISOString()
    if (isPresent && !isStale) return
    const loaded = await loadThreatIndex(ports)
    present = { feeds: openThreatIndex(loaded.index), stale_at: loaded.stale_at }
    onIndex(loaded)
    judging.wake()
  }

  async function judge(): Promise<void> {
    if (!present) return
    await judgeAgain(
      ports,
      present.feeds,
      (judged) => {
        if ('error' in judged) log.error({ upload: judged.upload, err: judged.error }, 'judging a file again failed')
        else log[judged.found > 0 ? 'info' : 'debug'](judged, 'traffic file judged again')
      },
      () => !stopped,
    )
  }

  const judging = repeat(judge, judgeEvery, (err) => log.error({ err }, 'judging traffic files again failed'))
  const watching = repeat(watch, watchEvery, (err) => log.error({ err }, 'loading the threat feeds failed'))
  const refreshing = repeat(refreshDue, refreshEvery, (err) => log.error({ err }, 'refreshing threat feeds failed'))
  return {
    async stop() {
      stopped = true
      await Promise.all([watching.stop(), refreshing.stop(), judging.stop()])
    },
  }
}

function tell(log: Log, { name: feed, outcome, ...rest }: FeedRefresh): void {
  if (outcome === 'failed') log.warn({ feed, ...rest }, 'threat feed could not be refreshed, its last snapshot stays')
  else if (outcome === 'updated') log.info({ feed, ...rest }, 'threat feed refreshed')
  else log.debug({ feed, outcome, ...rest }, 'threat feed looked at')
}
