import { parseArgs } from 'node:util'
import { readConfig } from '../config.ts'
import { openPorts } from '../wire/ports.ts'
import { auditExportCommand } from './audit-export.ts'
import { auditVerifyCommand } from './audit-verify.ts'
import { backupCommand } from './backup.ts'
import { checkCommand } from './check.ts'
import { type Command, isWrongCall, wrongCall } from './command.ts'
import { demoCommand } from './demo.ts'
import { explain } from './explain.ts'
import { feedAddCommand } from './feed-add.ts'
import { feedListCommand } from './feed-list.ts'
import { feedRefreshCommand } from './feed-refresh.ts'
import { feedRemoveCommand } from './feed-remove.ts'
import { importAssessmentsCommand, importCloudDefenseCommand } from './import.ts'
import { migrateCommand } from './migrate.ts'
import { showProgress } from './progress.ts'
import { purgeCommand } from './purge.ts'
import { removedListCommand } from './removed-list.ts'
import { restoreCommand } from './restore.ts'
import { restoreRecordCommand } from './restore-record.ts'
import { serveCommand } from './serve.ts'
import { tokenIssueCommand } from './token-issue.ts'
import { tokenListCommand } from './token-list.ts'
import { tokenRevokeCommand } from './token-revoke.ts'
import { generalUsage, usageOf } from './usage.ts'
import { userAddCommand } from './user-add.ts'
import { userListCommand } from './user-list.ts'

/** All commands, in the order in which the usage lists them. */
const COMMANDS: Command[] = [
  serveCommand,
  migrateCommand,
  backupCommand,
  restoreCommand,
  userAddCommand,
  userListCommand,
  tokenIssueCommand,
  tokenListCommand,
  tokenRevokeCommand,
  importCloudDefenseCommand,
  importAssessmentsCommand,
  feedAddCommand,
  feedRefreshCommand,
  feedListCommand,
  feedRemoveCommand,
  auditExportCommand,
  auditVerifyCommand,
  checkCommand,
  removedListCommand,
  restoreRecordCommand,
  purgeCommand,
  demoCommand,
]

/** Where a command reads its configuration and writes what it has to say. */
export type Runtime = {
  environment: NodeJS.ProcessEnv
  stdout: { write(text: string): unknown }
  stderr: { isTTY?: boolean; write(text: string): unknown }
}

/**
 * Runs the command that `argv` calls.
 *
 * @returns the exit code: 0 done, 1 failed (one line on stderr says why), 2 called wrongly (usage on stderr).
 */
export async function runCommand(argv: string[], { environment, stdout, stderr }: Runtime): Promise<0 | 1 | 2> {
  const command = COMMANDS.find(({ name }) => name.split(' ').every((word, index) => argv[index] === word))
  const usage = command ? usageOf(command) : generalUsage(COMMANDS)
  try {
    if (argv.some((arg) => arg === '--help' || arg === '-h')) {
      stdout.write(`${usage}\n`)
      return 0
    }
    if (!command) throw wrongCall(argv[0] === undefined ? 'A command is missing' : 'There is no such command')
    const { json, ...given } = readArguments(command, argv.slice(command.name.split(' ').length))
    const config = readConfig(environment)
    await command.run({
      ...given,
      config,
      async withPorts(work) {
        const opened = await openPorts(config)
        try {
          return await work(opened)
        } finally {
          await opened.close()
        }
      },
      print(output) {
        const text = json ? JSON.stringify(output.json) : output.text
        if (text) stdout.write(`${text}\n`)
      },
      stdout,
      progress: (what) => showProgress(stderr, what),
    })
    return 0
  } catch (error) {
    stderr.write(`${explain(error)}\n`)
    if (!isWrongCall(error)) return 1
    stderr.write(`${usage}\n`)
    return 2
  }
}

function readArguments({ args = [], options = {} }: Command, argv: string[]) {
  const kinds = Object.entries(options).map(([name, { value, repeated = false }]): [string, OptionKind] => {
    return [name, { type: value === undefined ? 'boolean' : 'string', multiple: repeated }]
  })
  const { values: given, positionals } = parse({ ...Object.fromEntries(kinds), json: { type: 'boolean' } }, argv)
  const { json, ...rest } = given
  for (const [name, { required }] of Object.entries(options)) {
    if (required && rest[name] === undefined) throw wrongCall(`--${name} is missing`)
  }
  const needed = args.filter((name) => !name.startsWith('['))
  if (positionals.length < needed.length) throw wrongCall(`${needed[positionals.length]} is missing`)
  if (positionals.length > args.length) throw wrongCall(`${positionals[args.length]} is one argument too many`)
  const values: { [name: string]: string } = {}
  const lists: { [name: string]: string[] } = {}
  const flags = new Set<string>()
  for (const [name, value] of Object.entries(rest)) {
    if (typeof value === 'string') values[name] = value
    else if (Array.isArray(value)) lists[name] = value.map(String)
    else if (value) flags.add(name)
  }
  return { json: json === true, values, lists, flags, args: positionals }
}

type OptionKind = { type: 'string' | 'boolean'; multiple?: boolean }

function parse(options: { [name: string]: OptionKind }, argv: string[]) {
  try {
    return parseArgs({ args: argv, options, allowPositionals: true })
  } catch (error) {
    throw wrongCall(error instanceof Error ? error.message : String(error))
  }
}
