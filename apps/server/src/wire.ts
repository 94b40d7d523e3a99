import {
  createApp,
  createHttpServer,
  createThrottle,
  type HttpServer,
  type OnServed,
} from '@security-management/adapters-http'
import { fileMailer, smtpMailer } from '@security-management/adapters-mail'
import {
  type Migrated,
  migrate,
  type OnTimed,
  openDatabase,
  type SchemaState,
  schemaStateOf,
  sqlPorts,
} from '@security-management/adapters-sql'
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
import { docsPages } from './docs-pages.ts'
import type { Log } from './log.ts'
import { createTrafficThread } from './traffic-reader.ts'

/** Where mails are written while there is no mail server, relative to the working directory. */
const MAIL_DIRECTORY = 'data/mail'

/** The ports of the domain on the database of the configuration. */
export type OpenPorts = {
  ports: Ports
  migrated: Migrated
  /** Asks the database for its schema. */
  schemaState(): Promise<SchemaState>
  /** Judges the traffic files that are opened from now on by these feeds. */
  judgeBy(feeds: ThreatIndex): void
  close(): Promise<void>
}

/**
 * Opens the database, brings it to the newest schema, and puts the ports of the domain on it.
 *
 * @throws Error with one line when the database cannot be opened, reached or migrated.
 */
export async function openPorts(config: Pick<Config, 'DATABASE_URL'>, onTimed?: OnTimed): Promise<OpenPorts> {
  const database = openDatabase(config.DATABASE_URL, onTimed)
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
      schemaState: () => schemaStateOf(database),
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

/**
 * The HTTP server of the configuration, which does not listen yet.
 *
 * @param onServed told of every request, after its line was logged.
 */
export function openHttpServer(config: Config, ports: Ports, log: Log, onServed: OnServed = () => {}): HttpServer {
  const limits = {
    json: config.MAX_JSON_BYTES,
    framework: config.MAX_FRAMEWORK_BYTES,
    document: config.MAX_DOCUMENT_BYTES,
    traffic: config.MAX_TRAFFIC_BYTES,
  }
  const throttle = createThrottle(ports, log, {
    failures: config.MAX_FAILED_AUTHENTICATIONS,
    requests: config.RATE_LIMIT,
    proxies: config.TRUST_PROXY,
  })
  const app = createApp(ports, {
    log,
    limits,
    storageQuota: config.STORAGE_QUOTA,
    requestTimeout: config.REQUEST_TIMEOUT,
    throttle,
    tokenInQuery: config.TOKEN_IN_QUERY === 'allow',
    pages: docsPages(),
    onServed,
  })
  const server = createHttpServer(app, {
    uploadTimeout: config.UPLOAD_TIMEOUT,
    keepAliveTimeout: config.KEEP_ALIVE_TIMEOUT,
    maxConnections: config.MAX_CONNECTIONS,
    maxRequestsPerConnection: config.MAX_REQUESTS_PER_CONNECTION,
    onRefused(refused) {
      log.info(refused, 'request')
      onServed(refused)
    },
  })
  server.once('close', () => throttle.stop())
  return server
}

/** The mailer of the configuration: SMTP, or files where no mail server is named. */
export function openMailer(config: Config, publicUrl: string): InvitationMailer & { close(): void } {
  const settings = { from: config.MAIL_FROM, publicUrl }
  if (config.SMTP_URL) return smtpMailer({ ...settings, url: config.SMTP_URL })
  return { ...fileMailer({ ...settings, directory: MAIL_DIRECTORY }), close() {} }
}
