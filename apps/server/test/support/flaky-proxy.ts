import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A line to PostgreSQL that breaks when a test wants it to. */
export type FlakyProxy = {
  /** The database, reached through it. */
  url: string
  /** From now on cuts each connection that commits, before the database has heard of it or after it has answered. */
  cutCommits(when: 'before' | 'after'): void
  /** From now on cuts nothing. */
  heal(): void
  stop(): Promise<void>
}

/** A simple query of the protocol: `Q`, four bytes of length, the text, NUL. */
const COMMIT = /Q[\0-\xff]{4}commit\0/i

export async function startFlakyProxy(databaseUrl: string): Promise<FlakyProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let mode: 'before' | 'after' | undefined

  const server = createServer((client) => {
    const database = connect(Number(target.port), target.hostname)
    let isCut = false
    const end = () => {
      client.destroy()
      database.destroy()
    }
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', end).on('close', end)
    }
    client.on('data', (bytes) => {
      const isCommit = mode !== undefined && COMMIT.test(bytes.toString('latin1'))
      if (isCommit && mode === 'before') return end()
      isCut ||= isCommit
      database.write(bytes)
    })
    database.on('data', (bytes) => {
      if (isCut) end()
      else client.write(bytes)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    cutCommits(when) {
      mode = when
    },
    heal() {
      mode = undefined
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
