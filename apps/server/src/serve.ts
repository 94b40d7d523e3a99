import type { Server } from 'node:http'
import { loadThreatIndex } from '@security-management/domain'
import type { Config } from './config.ts'
import { startDueEvidence } from './due-evidence.ts'
import { type FirstUser, registerFirstUser } from './first-user.ts'
import { startHousekeeping } from './housekeeping.ts'
import { listen, stopListening } from './listen.ts'
import type { Log } from './log.ts'
import { startMailRelay } from './mail-relay.ts'
import { startThreatFeeds } from './threat-feeds.ts'
import { type OpenPorts, openHttpServer, openMailer, openPorts } from './wire.ts'

/** What requests, and mails on their way, get to come to their end when the service stops, in milliseconds. */
const PATIENCE = 10_000

/** What is told once the service can be used. */
export type Ready = { address: string; firstUser: FirstUser | undefined }

/**
 * Runs the service until it is told to stop: the HTTP interface, the mail relay, and the work that comes back.
 *
 * @param onReady told where the service listens and, on an empty database, who the first user is.
 * @param stopped resolves, with the reason, when the service shall stop.
 * @throws Error with one line when the service cannot start.
 */
export async function serve(
  config: Config,
  log: Log,
  onReady: (ready: Ready) => void,
  stopped: Promise<string>,
): Promise<void> {
  const opened = await openPorts(config)
  try {
    const { ports, migrated } = opened
    if (migrated.applied.length > 0) log.info(migrated, 'database migrated')
    // No file is judged before the feeds are there; from then on the thread of the feeds brings what is newer.
    opened.judgeBy((await loadThreatIndex(ports)).index)
    const server = openHttpServer(config, ports, log)
    const address = await listen(server, config)
    const background = startBackground(config, opened, log, config.PUBLIC_URL ?? address)
    try {
      const firstUser = await registerFirstUser(ports)
      log.info({ address }, 'listening')
      onReady({ address, firstUser })
      log.info({ reason: await stopped }, 'stopping')
    } finally {
      await stop(server, background)
    }
  } finally {
    await opened.close()
  }
  log.info('stopped')
}

type Background = { stop(): Promise<unknown>; hurry(): void }

function startBackground(config: Config, { ports, judgeBy }: OpenPorts, log: Log, publicUrl: string): Background {
  const mailer = openMailer(config, publicUrl)
  const relay = startMailRelay(ports, mailer, log)
  const dueEvidence = startDueEvidence(ports, log)
  const feeds = startThreatFeeds(config, log, ({ index }) => judgeBy(index))
  const housekeeping = startHousekeeping(config, ports, log)
  return {
    stop: () => Promise.all([relay.stop(), dueEvidence.stop(), feeds.stop(), housekeeping.stop()]),
    hurry: () => mailer.close(),
  }
}

async function stop(server: Server, background: Background): Promise<void> {
  const impatient = setTimeout(() => background.hurry(), PATIENCE)
  await Promise.all([stopListening(server, PATIENCE), background.stop()])
  clearTimeout(impatient)
  background.hurry()
}
