import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands between a client and a PostgreSQL server, and fails as a network or a server does. */
export type TestProxy = {
  /** The database's URL, by way of the proxy. */
  url: string
  /** From now on: new connections go through; those that were swallowed stay dead. */
  pass(): void
  /** From now on: takes connections and whatever is sent, and answers nothing; on those that are there, too. */
  swallow(): void
  /** From now on: ends every connection, those that are there as well. */
  refuse(): void
  /** Ends the connections that are there. */
  cut(): void
  stop(): Promise<void>
}

/** A proxy on a free port before the server of a PostgreSQL URL. */
export async function startProxy(target: string): Promise<TestProxy> {
  const { hostname, port } = new URL(target)
  const pairs = new Set<{ near: Socket; far: Socket }>()
  let mode: 'pass' | 'swallow' | 'refuse' = 'pass'

  const server = createServer((near) => {
    near.on('error', () => near.destroy())
    if (mode === 'refuse') return near.resetAndDestroy()
    const far = connect(Number(port), hostname)
    far.on('error', () => near.destroy())
    const pair = { near, far }
    pairs.add(pair)
    near.once('close', () => {
      far.destroy()
      pairs.delete(pair)
    })
    far.once('close', () => near.destroy())
    if (mode === 'swallow') return swallow(pair)
    near.pipe(far)
    far.pipe(near)
  })
  function swallow({ near, far }: { near: Socket; far: Socket }): void {
    near.unpipe(far).resume()
    far.unpipe(near).resume()
  }
  function cut(): void {
    for (const { near } of pairs) near.resetAndDestroy()
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    pass() {
      mode = 'pass'
    },
    swallow() {
      mode = 'swallow'
      for (const pair of pairs) swallow(pair)
    },
    refuse() {
      mode = 'refuse'
      cut()
    },
    cut,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        cut()
      }),
  }
}
