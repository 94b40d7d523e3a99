import { setTimeout as sleep } from 'node:timers/promises'
import { loadThreatIndex } from '@security-management/domain'
import { within } from './checks.ts'
import type { Config } from './config.ts'
import { listen, stopListening } from './listen.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { startThreatFeeds } from './threat-feeds.ts'
import { openHttpServer } from './wire/http-server.ts'
import type { OpenPorts } from './wire/ports.ts'

/** What requests get to come to their end when the service stops, in milliseconds. */
export const PATIENCE = 10_000

/** How long an idle connection stays open then, for a client that is just about to send, in milliseconds. */
const GRACE = 500

/** How long it may take to clean up after requests that were cut, in milliseconds. */
const CLEANING = 5000

/** What serves requests in one process, with the threat feeds that uploads are judged by. */
export type Interface = { address: string; stop(): Promise<void> }

/** @throws Error with one line when it cannot listen. */
export async function startInterface(
  config: Config,
  { ports, judgeBy }: OpenPorts,
  log: Log,
  metrics: Metrics | undefined,
): Promise<Interface> {
  metrics?.watch(ports.bus, (err) => log.error({ err }, 'an event was not counted'))
  // No file is judged before the feeds are there; from then on the thread of the feeds brings what is newer.
  judgeBy((await loadThreatIndex(ports)).index)
  const server = openHttpServer(config, ports, log, metrics?.onServed)
  const address = await listen(server, config)
  const feeds = startThreatFeeds(config, log, ({ index }) => judgeBy(index))
  return {
    address,
    async stop() {
      const feedsStopped = feeds.stop()
      server.drain()
      // A proxy that asks whether this process is ready learns that it is not, before a connection would be refused.
      if (config.STOP_DELAY > 0) await sleep(config.STOP_DELAY)
      await stopListening(server, PATIENCE, GRACE)
      // An upload that was cut erases what it has stored, for which it needs the database.
      await within(CLEANING, server.idle())
      await feedsStopped
    },
  }
}
