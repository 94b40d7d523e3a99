import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Ended, start } from './program.ts'

/** The service, running as a process of its own. */
export type TestServer = {
  address: string
  /** Where the second listener is, if there is one. */
  admin: string
  pid: number
  said: { stdout: string; stderr: string }
  /** When the process has ended, whoever ended it. */
  ended: Promise<Ended>
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

/** Starts the service on a free port and waits until it listens. */
export async function startServer(
  cwd: string,
  env: Record<string, string> = {},
  args: string[] = [],
  patience?: number,
): Promise<TestServer> {
  const { child, said, ended } = start(['serve', ...args], { cwd, env: { PORT: '0', ...env }, patience })
  const { address, admin } = await new Promise<{ address: string; admin?: string }>((resolve, reject) => {
    const look = () => {
      const line = said.stderr.split('\n').find((text) => text.includes('"msg":"listening"'))
      if (!line?.endsWith('}')) return
      child.stderr?.off('data', look)
      resolve(JSON.parse(line))
    }
    child.stderr?.on('data', look)
    void ended.then(({ stderr }) => reject(new Error(`The service ended: ${stderr}`)))
  })
  return {
    address,
    admin: admin ?? '',
    pid: child.pid ?? 0,
    said,
    ended,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
}

/** Starts the service with its second listener on a free port. */
export async function startWatched(cwd: string, env: Record<string, string> = {}): Promise<TestServer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await startServer(cwd, { ADMIN_PORT: String(await freePort()), ...env })
    } catch (error) {
      // Somebody else may have taken the port between the look and the start.
      if (tries === 3 || !String(error).includes('ADMIN_PORT')) throw error
    }
  }
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** What the second listener says on a path. */
export async function ask(server: Pick<TestServer, 'admin'>, path: '/live' | '/ready' | '/metrics') {
  const response = await fetch(`${server.admin}${path}`, { headers: { Connection: 'close' } })
  const text = await response.text()
  const type = response.headers.get('content-type') ?? ''
  return {
    status: response.status,
    type,
    text,
    json: type.startsWith('application/json') ? JSON.parse(text) : undefined,
  }
}

/** The lines of the log so far, of this message. */
export function logged({ said }: Pick<TestServer, 'said'>, message: string): Record<string, unknown>[] {
  return said.stderr
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === message)
}

/** The token that the service printed at its first start. */
export async function firstToken({ said }: Pick<TestServer, 'said'>): Promise<string> {
  for (let tries = 0; tries < 500; tries += 1) {
    const token = /sms_[0-9A-Za-z]{49}/.exec(said.stdout)?.[0]
    if (token) return token
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`No token was printed: ${said.stdout}`)
}
