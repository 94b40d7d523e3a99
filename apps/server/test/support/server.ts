import { type Ended, start } from './program.ts'

/** The service, running as a process of its own. */
export type TestServer = {
  address: string
  said: { stdout: string; stderr: string }
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

/** Starts the service on a free port and waits until it listens. */
export async function startServer(
  cwd: string,
  env: Record<string, string> = {},
  args: string[] = [],
): Promise<TestServer> {
  const { child, said, ended } = start(['serve', ...args], { cwd, env: { PORT: '0', ...env } })
  const address = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const line = said.stderr.split('\n').find((text) => text.includes('"msg":"listening"'))
      if (line?.endsWith('}')) resolve((JSON.parse(line) as { address: string }).address)
    }
    child.stderr?.on('data', look)
    void ended.then(({ stderr }) => reject(new Error(`The service ended: ${stderr}`)))
  })
  return {
    address,
    said,
    stop(signal = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
  }
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
