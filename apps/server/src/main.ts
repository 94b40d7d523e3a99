import { runCommand } from './cli/index.ts'

const { env: environment, stdout, stderr, versions } = process

// Before Node-API 10 the SQLite binding would end the process without a word, and before 22.15 there is no Zstandard.
if (Number(versions.napi) < 10 || versions.zstd === undefined) {
  stderr.write(`Node ${versions.node} is too old: 22.15 or newer is needed\n`)
  process.exitCode = 1
} else {
  process.exitCode = await runCommand(process.argv.slice(2), { environment, stdout, stderr })
}
