import { runCommand } from './cli/index.ts'

const { env: environment, stdout, stderr, versions } = process

// On an older Node the SQLite binding, built for Node-API 10, would end the process without a word.
if (Number(versions.napi) < 10) {
  stderr.write(`Node ${versions.node} is too old: 22.14 or newer is needed\n`)
  process.exitCode = 1
} else {
  process.exitCode = await runCommand(process.argv.slice(2), { environment, stdout, stderr })
}
