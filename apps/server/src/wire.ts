import type { Server } from 'node:http'
import { createApp, createHttpServer } from '@security-management/adapters-http'
import { fileMailer, smtpMailer } from '@security-management/adapters-mail'
import { type Migrated, migrate, openDatabase, sqlPorts } from '@security-management/adapters-sql'
import {
  createEventBus,
  type InvitationMailer,
  type Judge,
  NO_FEEDS,
  openThreatIndex,
  type Ports,
  type ThreatIndex,
} from '@security-management/domain'
import { systemSurroundings } from '@security-management/domain/memory'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import { createTrafficThread } from './traffic-reader.ts'

/** Where mails are written while there is no mail server, relative to the working directory. */
const MAIL_DIRECTORY = 'data/mail'

/** The ports of the domain on the database of the configuration. */
export type OpenPorts = {
  ports: Ports
  migrated: Migrated
  /** Judges the traffic files that are opened from now on by these feeds. */
  judgeBy(feeds: ThreatIndex): void
  close(): Promise<void>
}

/**
 * Opens the database, brings it to the newest schema, and puts the ports of the domain on it.
 *
 * @throws Error with one line when the database cannot be opened, reached or migrated.
 */
export async function openPorts(config: Pick<Config, 'DATABASE_URL'>): Promise<OpenPorts> {
  const database = await openDatabase(config.DATABASE_URL)
  try {
    const migrated = await migrate(database)
    const thread = createTrafficThread()
    let feeds: Judge = NO_FEEDS
    const ports = {
      ...systemSurroundings(),
      ...sqlPorts(database, createEventBus()),
      openTrafficReader: thread.openTrafficReader,
      feeds: () => feeds,
    }
    return {
      ports,
      migrated,
      judgeBy(index) {
        thread.judgeBy(index)
        feeds = openThreatIndex(index)
      },
      async close() {
        await thread.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The HTTP server of the configuration, which does not listen yet. */
export function openHttpServer(config: Config, ports: Ports, log: Log): Server {
  const limits = {
    json: config.MAX_JSON_BYTES,
    framework: config.MAX_FRAMEWORK_BYTES,
    document: config.MAX_DOCUMENT_BYTES,
    traffic: config.MAX_TRAFFIC_BYTES,
  }
  return createHttpServer(createApp(ports, { log, limits, tokenInQuery: config.TOKEN_IN_QUERY === 'allow' }))
}

/** The mailer of the configuration: SMTP, or files where no mail server is named. */
export function openMailer(config: Config, publicUrl: string): InvitationMailer & { close(): void } {
  const settings = { from: config.MAIL_FROM, publicUrl }
  if (config.SMTP_URL) return smtpMailer({ ...settings, url: config.SMTP_URL })
  return { ...fileMailer({ ...settings, directory: MAIL_DIRECTORY }), close() {} }
}
