import type { TestServer } from '../apps/server/test/support/server.ts'
import type { Random } from './random.ts'

export const DATABASES = ['sqlite', 'postgres'] as const
export type DatabaseName = (typeof DATABASES)[number]

/** One way in which things go wrong, and what must hold all the same. */
export type Scenario = {
  /** What it is called by on the command line: that of its file. */
  name: string
  /** What must hold, as a sentence. */
  title: string
  databases: readonly DatabaseName[]
  run(context: Context): Promise<Outcome>
}

export type Outcome = {
  /** How often the fault was brought about. */
  rounds: number
  /** What the rounds amounted to, with denominators: `1,234 writes acknowledged, 98 in flight`. */
  summary?: string
}

/** Takes an assertion: whether it holds, and what to say where it does not. */
export type Check = (holds: boolean, what: string) => void

/** What a scenario runs with. */
export type Context = {
  database: DatabaseName
  /** The long form of `pnpm torture`, or the few seconds of it that are part of the tests. */
  size: 'full' | 'short'
  /** Those of the command line, else those of the size. */
  rounds(byDefault: { full: number; short: number }): number
  random: Random
  /** A new directory, removed in the end: the working directory of the services that are started here. */
  directory: string
  /** The URL of a new, empty database. */
  newDatabase(): Promise<string>
  /** Starts the service; it is killed in the end if it still runs. */
  serve(env: { DATABASE_URL: string; [variable: string]: string }): Promise<TestServer>
  /** Counts an assertion, and notes its failure; what follows is still run. */
  check: Check
  /** Runs this in the end, last come first served, whatever happened before. */
  atEnd(cleanUp: () => Promise<unknown>): void
  /** Tells who watches how far it is. */
  log(line: string): void
}
