import cluster from 'node:cluster'
import { createServingLog } from '../log.ts'
import type { Ready } from '../serve.ts'
import type { Command, Output } from './command.ts'

/** Runs the service until it is told to stop. */
export const serveCommand: Command = {
  name: 'serve',
  about: 'runs the service',
  async run({ config, print }) {
    const serving = createServingLog(config.LOG_LEVEL)
    const { log } = serving
    const fail = (err: unknown, what: string) => {
      log.fatal({ err }, what)
      process.exit(1)
    }
    process.on('uncaughtException', (error) => fail(error, 'uncaught exception'))
    process.on('unhandledRejection', (reason) => fail(reason, 'unhandled rejection'))
    const said = (ready: Ready) => {
      const output = readyOutput(ready, config.PUBLIC_URL ?? ready.address)
      if (output) print(output)
    }
    const stopped = stopSignal()
    // No other command needs what these load.
    if (cluster.isWorker) await (await import('../worker.ts')).serveAsWorker(config, serving, stopped)
    else await (await import('../serve.ts')).serve(config, serving, said, stopped)
  },
}

/** Resolves with the name of the first signal to stop; a second one ends the process at once. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false
    const onSignal = (signal: string) => {
      if (asked) process.exit(1)
      asked = true
      resolve(signal)
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}

function readyOutput({ address, firstUser }: Ready, url: string): Output {
  if (!firstUser) return { json: { address }, text: '' }
  const { token, ...user } = firstUser
  const header = `-H 'X-Service-Token: ${token}'`
  const text = [
    `The database was empty, so ${user.email} was registered as the first user. This is the API token, shown this once:`,
    '',
    `  ${token}`,
    '',
    'See that it works:',
    '',
    `  curl ${header} ${url}/api/v1/me`,
    '',
    'Then create an organization, which you will own:',
    '',
    `  curl ${header} -H 'Content-Type: application/json' -d '{"name": "My organization"}' ${url}/api/v1/organizations`,
    '',
  ]
  return { json: { address, user, token }, text: text.join('\n') }
}
