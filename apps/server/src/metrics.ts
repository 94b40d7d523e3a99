import { type OnServed, routes } from '@security-management/adapters-http'
import type { OnTimed } from '@security-management/adapters-sql'
import { type EventBus, subscribe } from '@security-management/domain'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** What one process counts, in the form of Prometheus. All labels come from closed lists. */
export type Metrics = {
  onServed: OnServed
  onTimed: OnTimed
  /** Counts what is committed here. */
  watch(bus: EventBus, onError: (error: unknown) => void): void
  /** Shows, whenever it is asked, how many mails are owed. */
  watchOwedMails(count: () => Promise<number>): void
  /** Shows how many lines of the log were lost. */
  watchLog(dropped: () => number): void
  /** All of it, for `textOf`; can be sent to another process. */
  snapshot(): Promise<Snapshot>
}

export type Snapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const DATABASE_SECONDS = [0.00001, 0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const METHODS = new Set(['GET', 'HEAD', ...routes.map(({ method }) => method.toUpperCase())])

/** The content type of what `textOf` gives. */
export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE

/**
 * @param process of several, which one; a label of everything it counts, so that a process that is replaced begins its
 *   own counters anew and nobody else's.
 */
export function createMetrics(process?: string): Metrics {
  const registry = new Registry()
  if (process !== undefined) registry.setDefaultLabels({ process })
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'sms_http_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its answer; 499: the client did not wait for it.',
    labelNames: ['route', 'method', 'status'] as const,
    buckets: REQUEST_SECONDS,
    registers,
  })
  const database = new Histogram({
    name: 'sms_database_duration_seconds',
    help: 'Time that statements took, and units of work from the asking to the acknowledgement.',
    labelNames: ['kind'] as const,
    buckets: DATABASE_SECONDS,
    registers,
  })
  const uploads = new Counter({
    name: 'sms_traffic_uploads_total',
    help: 'Traffic files that were taken in.',
    registers,
  })
  const lines = new Counter({
    name: 'sms_traffic_lines_total',
    help: 'Lines of the traffic files that were taken in.',
    labelNames: ['outcome'] as const,
    registers,
  })
  const malicious = new Counter({
    name: 'sms_traffic_malicious_lines_total',
    help: 'Accepted lines of traffic files that were malicious.',
    registers,
  })
  const documents = new Counter({
    name: 'sms_document_uploads_total',
    help: 'Documents that were attached.',
    registers,
  })
  for (const outcome of ['accepted', 'rejected']) lines.inc({ outcome }, 0)

  return {
    onServed({ route, method, status, duration_ms }) {
      const known = method !== null && METHODS.has(method) ? method : 'other'
      requests.observe({ route: route ?? 'none', method: known, status }, duration_ms / 1000)
    },
    onTimed: (kind, milliseconds) => database.observe({ kind }, milliseconds / 1000),
    watch(bus, onError) {
      const attached = () => documents.inc()
      subscribe(bus, ['evidence.attached'], attached, onError)
      subscribe(
        bus,
        ['traffic.uploaded'],
        ({ details }) => {
          uploads.inc()
          for (const outcome of ['accepted', 'rejected']) lines.inc({ outcome }, Number(details[outcome] ?? 0))
          malicious.inc(Number(details.malicious ?? 0))
        },
        onError,
      )
    },
    watchOwedMails(count) {
      new Gauge({
        name: 'sms_invitations_owed',
        help: 'Invitations whose mail is not out yet.',
        registers,
        async collect() {
          try {
            this.set(await count())
          } catch {
            // No figure is better than an old one, and better than no metrics at all.
            this.remove()
          }
        },
      })
    },
    watchLog(dropped) {
      new Counter({
        name: 'sms_log_lines_dropped_total',
        help: 'Lines of the log that were dropped, since its reader was too slow.',
        registers,
        collect() {
          this.reset()
          this.inc(dropped())
        },
      })
    },
    async snapshot() {
      // Processes tell their series apart by a label, so that all can be kept; some would be averaged, or left out.
      return (await registry.getMetricsAsJSON()).map((metric) => ({ ...metric, aggregator: 'sum' }))
    },
  }
}

/** What several processes counted, as text. */
export function textOf(snapshots: Snapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate(snapshots).metrics()
}
