import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { setup } from '../packages/adapters-sql/src/testing/global-setup.ts'
import { DATABASES, type DatabaseName, type Scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios.ts'
import { type Report, torture } from './torture.ts'

const USAGE = `Usage: pnpm torture [NAME…] [--seed N] [--rounds N] [--database sqlite|postgres]

Brings faults about, and checks that nothing acknowledged is lost, nothing is half there, nobody sees what is not theirs,
and the service is alive and right. Without a name all of these:

${SCENARIOS.map(({ name, title }) => `  ${name.padEnd(16)} ${title}`).join('\n')}
`

/** Failures of one scenario that are printed; the rest is counted. */
const SHOWN = 20

type Done = Report & { name: string; database: DatabaseName }

const say = (text: string) => process.stdout.write(`${text}\n`)

function readCall() {
  const { values, positionals } = parseArgs({
    options: { seed: { type: 'string' }, rounds: { type: 'string' }, database: { type: 'string' } },
    allowPositionals: true,
  })
  const unknown = positionals.find((name) => !SCENARIOS.some((scenario) => scenario.name === name))
  if (unknown !== undefined) throw new Error(`There is no scenario ${unknown}`)
  if (values.database !== undefined && !DATABASES.some((name) => name === values.database)) {
    throw new Error('--database takes sqlite or postgres')
  }
  return {
    seed: wholeNumber('seed', values.seed) ?? randomInt(2 ** 32),
    rounds: wholeNumber('rounds', values.rounds),
    databases: DATABASES.filter((name) => values.database === undefined || name === values.database),
    scenarios: SCENARIOS.filter(({ name }) => positionals.length === 0 || positionals.includes(name)),
  }
}

function wholeNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,10}$/.test(text) || Number(text) >= 2 ** 32) throw new Error(`--${name} takes a whole number below 2^32`)
  return Number(text)
}

async function runOne(scenario: Scenario, database: DatabaseName, seed: number, rounds?: number): Promise<Done> {
  const { name, title } = scenario
  say(`\n${name} on ${database}: ${title}`)
  const log = (line: string) => say(`  ${line}`)
  const report = await torture(scenario, { database, size: 'full', seed, rounds, log })
  for (const failure of report.failures.slice(0, SHOWN)) say(`  FAILED ${failure}`)
  if (report.failures.length > SHOWN) say(`  … and ${report.failures.length - SHOWN} more`)
  if (report.failures.length > 0) {
    const again = rounds === undefined ? '' : ` --rounds ${rounds}`
    say(`  Again with: pnpm torture ${name} --database ${database} --seed ${seed}${again}`)
  }
  return { ...report, name, database }
}

function table(reports: readonly Done[]): string {
  const head = ['scenario', 'database', 'rounds', 'assertions', 'failures', 'seconds', '']
  const rows = reports.map(({ name, database, rounds, assertions, failures, seconds, summary = '' }) => [
    name,
    database,
    ...[rounds, assertions, failures.length, Math.round(seconds)].map((count) => count.toLocaleString('en')),
    summary,
  ])
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const isNumber = (column: number) => column >= 2 && column <= 5
  const pad = (text: string, column: number) =>
    isNumber(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0)
  return [head, ...rows].map((row) => row.map(pad).join('  ').trimEnd()).join('\n')
}

async function runAll({ seed, rounds, databases, scenarios }: ReturnType<typeof readCall>): Promise<Done[]> {
  say(`Seed ${seed}`)
  // One for all scenarios that share one; those that break their server start one of their own.
  const stop = databases.includes('postgres') ? await setup() : async () => {}
  const reports: Done[] = []
  try {
    for (const scenario of scenarios) {
      for (const database of databases.filter((name) => scenario.databases.includes(name))) {
        reports.push(await runOne(scenario, database, seed, rounds))
      }
    }
  } finally {
    await stop()
  }
  return reports
}

try {
  const reports = await runAll(readCall())
  say(`\n${table(reports)}`)
  if (reports.some(({ failures }) => failures.length > 0)) process.exitCode = 1
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${USAGE}`)
  process.exitCode = 2
}
