/**
 * The names that logs use for what is read of a line, best first: nginx, Apache, Caddy, Traefik, HAProxy, AWS (load
 * balancer, WAF, CloudFront) and the Elastic Common Schema. A dot leads into a nested object, or stands in a flat name;
 * a name in brackets is that of one item of a list of `{name, value}`.
 * Letter case does not matter.
 */
export const LINE_NAMES = {
  /** When the request came. */
  time: [
    'timestamp',
    '@timestamp',
    'time_iso8601',
    'StartUTC',
    'time',
    'datetime',
    'ts',
    'msec',
    'time_local',
    'StartLocal',
    'start_time',
    'accept_date',
    'request_date',
    'event.created',
    'event.start',
  ],
  /** The day alone, where the time of day stands apart (CloudFront). */
  date: ['date'],
  /** The address that the log calls the client. */
  client: [
    'client_ip',
    'clientip',
    'client.ip',
    'request.client_ip',
    'request.remote_ip',
    'remote_addr',
    'remoteIP',
    'remote_ip',
    'ClientHost',
    'ClientAddr',
    'httpRequest.clientIp',
    'source.ip',
    'source_ip',
    'src_ip',
    'c-ip',
    'c_ip',
    'ci',
    'client',
    'client_address',
    'client:port',
    'remote_host',
    'remote',
    'request.remote_addr',
    'source.address',
    'client.address',
    'ip',
  ],
  /** Whom proxies say they forwarded for. */
  forwarded: [
    'http_x_forwarded_for',
    'x_forwarded_for',
    'x-forwarded-for',
    'request_X-Forwarded-For',
    'request.headers.X-Forwarded-For',
    'headers.x-forwarded-for',
    'http.request.headers.x-forwarded-for',
    'httpRequest.headers[X-Forwarded-For]',
    'forwarded_for',
    'xff',
  ],
  /** The host that was asked for. */
  host: [
    'http_host',
    'request.host',
    'httpRequest.host',
    'httpRequest.headers[Host]',
    'RequestHost',
    'url.domain',
    'domain_name',
    'x-host-header',
    'x_host_header',
    'cs-host',
    'cs_host',
    'cs(Host)',
    'vhost',
    'host',
    'hostname',
    'server_name',
    'domain',
    'destination.domain',
    'dns.question.name',
    'query_name',
  ],
  status: [
    'status',
    'status_code',
    'http.response.status_code',
    'DownstreamStatus',
    'OriginStatus',
    'elb_status_code',
    'sc-status',
    'sc_status',
    'responseCodeSent',
    'sc',
  ],
  /** What became of the request; every one of these counts. */
  verdict: [
    'verdict',
    'action',
    'decision',
    'disposition',
    'waf_action',
    'waf.action',
    'actions_executed',
    'event.action',
    'event.outcome',
    'event.type',
    'status',
    'result',
    'x-edge-result-type',
  ],
} as const

export type LineField = keyof typeof LINE_NAMES

/** What a firewall, proxy or resolver says of a request that it did not let through, in lower case. */
export const MALICIOUS_VERDICTS = [
  'block',
  'blocked',
  'deny',
  'denied',
  'drop',
  'dropped',
  'reject',
  'rejected',
  'refuse',
  'refused',
  'malicious',
  'attack',
  'threat',
  'sinkhole',
  'sinkholed',
  'waf-block',
  'waf_block',
] as const

/** Keys under which an object may hold the array of lines (decisions.md §4, Traffic file). */
export const WRAPPERS = ['lines', 'logs', 'events', 'entries', 'records', 'data'] as const
