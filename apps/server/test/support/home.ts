import { afterEach, beforeEach } from 'vitest'
import { temporaryDirectory } from './program.ts'
import { startServer, startWatched, type TestServer } from './server.ts'

/** A new directory for each test of a file, and the services that it starts there; nothing is left of either afterwards. */
export function homeOfTests() {
  let directory: Awaited<ReturnType<typeof temporaryDirectory>>
  let servers: TestServer[]

  beforeEach(async () => {
    directory = await temporaryDirectory()
    servers = []
  })

  afterEach(async () => {
    for (const server of servers) await server.stop('SIGKILL')
    await directory.remove()
  })

  async function keep(starting: Promise<TestServer>): Promise<TestServer> {
    const server = await starting
    servers.push(server)
    return server
  }

  return {
    path: () => directory.path,
    serve: (env?: Record<string, string>, args?: string[]) => keep(startServer(directory.path, env, args)),
    /** With its second listener. */
    serveWatched: (env?: Record<string, string>) => keep(startWatched(directory.path, env)),
  }
}
