import { once } from 'node:events'
import type { TestServer } from '../apps/server/test/support/server.ts'

/** Variables with which a service can be asked for its heap, on a port that it picks. */
export const ASKABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' }

/** What the main thread of a service that was started with `ASKABLE` holds on to once all garbage is gone, in MiB. */
export async function heapOf({ said }: Pick<TestServer, 'said'>): Promise<number> {
  const [, url] = /Debugger listening on (ws:\S+)/.exec(said.stderr) ?? []
  if (!url) throw new Error('The service does not say where its debugger listens')
  const socket = new WebSocket(url)
  await once(socket, 'open')
  let count = 0
  async function call(method: string, params: object = {}): Promise<{ result?: { value?: number } }> {
    count += 1
    const id = count
    socket.send(JSON.stringify({ id, method, params }))
    for (;;) {
      const [{ data }] = (await once(socket, 'message')) as [MessageEvent]
      const message = JSON.parse(String(data)) as { id?: number; result?: { result?: { value?: number } } }
      if (message.id === id) return message.result ?? {}
    }
  }
  try {
    for (let times = 0; times < 3; times += 1) await call('HeapProfiler.collectGarbage')
    const expression = '(({ heapUsed, external }) => heapUsed + external)(process.memoryUsage())'
    const { result } = await call('Runtime.evaluate', { expression })
    return (result?.value ?? Number.NaN) / (1024 * 1024)
  } finally {
    socket.close()
  }
}
