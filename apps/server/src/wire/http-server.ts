import {
  createApp,
  createHttpServer,
  createThrottle,
  type HttpServer,
  type OnServed,
} from '@security-management/adapters-http'
import type { Ports } from '@security-management/domain'
import type { Config } from '../config.ts'
import { docsPages } from '../docs-pages.ts'
import type { Log } from '../log.ts'

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
  // That it cannot listen is told of by whoever made it. Later, one connection is lost and nobody else's.
  server.once('listening', () => server.on('error', (err) => log.error({ err }, 'a connection could not be taken')))
  return server
}
