import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** A request whose body is half sent until `finish` is called. */
export function slowEdit(url: string, token: string) {
  const headers = { 'X-Service-Token': token, 'Content-Type': 'application/json', Expect: '100-continue' }
  const sending = request(url, { method: 'PUT', headers })
  const status = new Promise<number | undefined>((resolve, reject) => {
    sending.on('response', (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sending.on('error', reject)
  })
  // The server asks for the body once it has looked at the token and the right, so the request is well on its way.
  const begun = Promise.race([new Promise((resolve) => sending.on('continue', resolve)), sleep(1000)])
  sending.write('{"name": ')
  return { begun, status, finish: () => sending.end('"Acme International"}') }
}
