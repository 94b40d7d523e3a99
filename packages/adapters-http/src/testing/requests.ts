import type { OutgoingHttpHeaders } from 'node:http'
import { paramNames } from '../parameters.ts'
import type { Route } from '../route.ts'

/** What a request carries beside its method and path. */
export type Sent = {
  token?: string
  headers?: OutgoingHttpHeaders
  /** A body that is sent as JSON. */
  json?: unknown
  /** A body that is sent as it is; an iterable comes in chunks. */
  body?: string | Uint8Array | AsyncIterable<Uint8Array>
}

/** The path of a route with its parameters filled in, in their order. */
export function pathOf(route: Route, ...values: (string | number)[]): string {
  return paramNames(route.path).reduce<string>(
    (path, name, index) => path.replace(`{${name}}`, encodeURIComponent(values[index] ?? '')),
    route.path,
  )
}

/** A body of multipart/form-data made of these parts. */
export function formOf(parts: { name?: string; headers?: string[]; content: string | Uint8Array }[]): {
  headers: { 'Content-Type': string }
  body: Buffer
} {
  const boundary = 'a-boundary'
  const pieces = parts.flatMap(({ name, headers = [], content }) => [
    `--${boundary}\r\n`,
    ...(name === undefined ? [] : [`Content-Disposition: form-data; name="${name}"\r\n`]),
    ...headers.map((header) => `${header}\r\n`),
    '\r\n',
    content,
    '\r\n',
  ])
  const body = Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)))
  return { headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` }, body }
}
