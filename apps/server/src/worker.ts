import cluster from 'node:cluster'
import { OWING_EVENTS, subscribe } from '@security-management/domain'
import { checkDatabase } from './checks.ts'
import { explain } from './cli/explain.ts'
import type { Config } from './config.ts'
import { startInterface } from './interface.ts'
import type { ServingLog } from './log.ts'
import { createMetrics } from './metrics.ts'
import { openPorts } from './wire/ports.ts'
import { type FromWorker, type ToWorker, WORKER } from './worker-messages.ts'

/**
 * Serves requests, and does nothing else, until the process that started it says so, or a signal does.
 *
 * @param stopped resolves, with the reason, at a signal.
 */
export async function serveAsWorker(
  config: Config,
  { log, dropped }: ServingLog,
  stopped: Promise<string>,
): Promise<void> {
  let tellStop = (_reason: string) => {}
  const told = new Promise<string>((resolve) => {
    tellStop = resolve
  })
  let answer = async (_asked: 'checks' | 'snapshot'): Promise<unknown> => undefined
  process.on('message', async (message: ToWorker) => {
    if ('stop' in message) return tellStop('the primary process says so')
    say({ id: message.id, answer: await answer(message.ask).catch(() => undefined) })
  })
  try {
    const metrics = config.ADMIN_PORT > 0 ? createMetrics(process.env[WORKER]) : undefined
    metrics?.watchLog(dropped)
    const opened = await openPorts(config, metrics?.onTimed)
    try {
      const { ports } = opened
      const fail = (err: unknown) => log.error({ err }, 'an event was not passed on')
      subscribe(ports.bus, OWING_EVENTS, (event) => say({ event }), fail)
      const { address, stop } = await startInterface(config, opened, log, metrics)
      answer = async (asked) => (asked === 'checks' ? checkDatabase(opened.schemaState) : metrics?.snapshot())
      say({ address })
      log.debug({ address }, 'worker listening')
      const reason = await Promise.race([stopped, told])
      log.debug({ reason }, 'worker stopping')
      await stop()
    } finally {
      await opened.close()
    }
  } catch (error) {
    say({ failed: explain(error) })
    process.exitCode = 1
  } finally {
    cluster.worker?.disconnect()
  }
}

function say(message: FromWorker): void {
  if (process.connected) process.send?.(message)
}
