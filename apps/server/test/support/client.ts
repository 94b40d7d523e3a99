import { checkDocumented } from '../../../../packages/adapters-http/src/testing/documented.ts'

/** An answer of the interface. */
export type Answer = {
  status: number
  headers: Headers
  body: { error: number; messages: unknown[] } & Record<string, unknown>
}

/** Somebody with a token, or nobody. */
export type Client = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>

/** A client of the service at `address`, which holds every answer against the API document. A body is sent as JSON, unless it is bytes. */
export function clientOf(address: string, token?: string): Client {
  return async (method, path, body, headers = {}) => {
    const bytes = body instanceof Uint8Array
    const response = await fetch(`${address}/api/v1${path}`, {
      method,
      headers: {
        ...(token && { 'X-Service-Token': token }),
        ...(body !== undefined && !bytes && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: bytes ? Buffer.from(body) : JSON.stringify(body) }),
    })
    const answer = {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Answer['body'],
    }
    checkDocumented(method, `/api/v1${path}`, { ...answer, headers: Object.fromEntries(response.headers) })
    return answer
  }
}
