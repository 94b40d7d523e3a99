import { runCommand } from './cli/index.ts'

const { env: environment, stdout, stderr } = process
process.exitCode = await runCommand(process.argv.slice(2), { environment, stdout, stderr })
