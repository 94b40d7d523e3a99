import { type Admin, type Checks, startAdmin } from './admin.ts'
import { type Background, startBackground } from './background.ts'
import { check, checkDatabase, together } from './checks.ts'
import type { Config } from './config.ts'
import { type FirstUser, registerFirstUser } from './first-user.ts'
import { PATIENCE, startInterface } from './interface.ts'
import type { Log, ServingLog } from './log.ts'
import { createMetrics, type Metrics, type Snapshot, textOf } from './metrics.ts'
import { type OpenPorts, openPorts } from './wire/ports.ts'
import { startWorkers } from './workers.ts'

/** What a mail on its way gets at the least to come to its end when the service stops, in milliseconds. */
const MAIL_PATIENCE = 1000

/** What is told once the service can be used. */
export type Ready = { address: string; firstUser: FirstUser | undefined }

/** What answers requests: this process, or several that it has started. */
type Serving = {
  address: string
  /** What other processes say; nothing where there are none. */
  checks(): Promise<Checks[]>
  snapshots(): Promise<Snapshot[]>
  stop(): Promise<void>
}

/**
 * Runs the service until it is told to stop: the HTTP interface, in as many processes as the configuration says, the mail
 * relay, the work that comes back, and the second listener, which tells how all that is.
 *
 * @param onReady told where the service listens and, on an empty database, who the first user is.
 * @param stopped resolves, with the reason, when the service shall stop.
 * @throws Error with one line when the service cannot start.
 */
export async function serve(
  config: Config,
  { log, dropped }: ServingLog,
  onReady: (ready: Ready) => void,
  stopped: Promise<string>,
): Promise<void> {
  const isCluster = config.WORKERS > 1
  const metrics = config.ADMIN_PORT > 0 ? createMetrics(isCluster ? 'primary' : undefined) : undefined
  metrics?.watchLog(dropped)
  let snapshots: Serving['snapshots'] = async () => []
  const admin =
    metrics && (await startAdmin(config, async () => textOf([await metrics.snapshot(), ...(await snapshots())])))
  try {
    const opened = await openPorts(config, metrics?.onTimed)
    try {
      const { ports, migrated } = opened
      if (migrated.applied.length > 0) log.info(migrated, 'database migrated')
      metrics?.watchOwedMails(() => ports.invitations.countOwed())
      const serving = await (isCluster ? serveInWorkers : serveHere)(config, opened, log, metrics)
      snapshots = serving.snapshots
      const background = startBackground(config, opened, log, config.PUBLIC_URL ?? serving.address)
      try {
        const firstUser = await registerFirstUser(ports)
        admin?.serving(async () => {
          const [own, others] = await Promise.all([checkDatabase(opened.schemaState), serving.checks()])
          return together([own, ...others, { relay: check(background.relayIsWell(), 'does not run') }])
        })
        log.info({ address: serving.address, ...(admin && { admin: admin.address }) }, 'listening')
        onReady({ address: serving.address, firstUser })
        log.info({ reason: await stopped }, 'stopping')
      } finally {
        await stop(admin, serving, background)
      }
    } finally {
      await opened.close()
    }
  } finally {
    await admin?.close()
  }
  log.info('stopped')
}

async function serveHere(config: Config, opened: OpenPorts, log: Log, metrics: Metrics | undefined): Promise<Serving> {
  const { address, stop } = await startInterface(config, opened, log, metrics)
  return { address, checks: async () => [], snapshots: async () => [], stop }
}

async function serveInWorkers(config: Config, { ports }: OpenPorts, log: Log): Promise<Serving> {
  // A mail that is owed by what a worker committed wakes the relay here.
  const workers = startWorkers(config, log, (event) => ports.bus.emit('event', event))
  try {
    const address = await workers.listening
    return { ...workers, address }
  } catch (error) {
    await workers.stop()
    throw error
  }
}

/** Not ready; no new requests, and an end to those there are; then the relay; the caller closes the database. */
async function stop(admin: Admin | undefined, serving: Serving, background: Background): Promise<void> {
  admin?.stopping()
  const started = performance.now()
  await serving.stop()
  await background.stop(Math.max(MAIL_PATIENCE, PATIENCE - (performance.now() - started)))
}
