import type { Config } from './config.ts'
import { startDueEvidence } from './due-evidence.ts'
import { startHousekeeping } from './housekeeping.ts'
import type { Log } from './log.ts'
import { startMailRelay } from './mail-relay.ts'
import { openMailer } from './wire/mailer.ts'
import type { OpenPorts } from './wire/ports.ts'

/** The work that comes back, in one process however many serve. */
export type Background = {
  /** Whether the mail relay does what it should; that a mail server takes no mails does not count against it. */
  relayIsWell(): boolean
  /** Takes up nothing new, and lets a mail that is on its way go for so many milliseconds. */
  stop(patience: number): Promise<void>
}

export function startBackground(config: Config, { ports }: OpenPorts, log: Log, publicUrl: string): Background {
  const mailer = openMailer(config, publicUrl)
  const relay = startMailRelay(ports, mailer, log)
  const dueEvidence = startDueEvidence(ports, log)
  const housekeeping = startHousekeeping(config, ports, log)
  return {
    relayIsWell: relay.isWell,
    async stop(patience) {
      const impatient = setTimeout(() => mailer.close(), patience)
      await Promise.all([relay.stop(patience), dueEvidence.stop(), housekeeping.stop()])
      clearTimeout(impatient)
      mailer.close()
    },
  }
}
