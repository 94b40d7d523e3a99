import type { Config } from '../config.ts'
import type { OpenPorts } from '../wire.ts'
import type { OnProgress } from './progress.ts'

/** What a command has to say: to a person, and to a program that asked for JSON. */
export type Output = { text: string; json: unknown }

/** What a command is called with. */
export type Call = {
  /** Values of the options that were given. */
  values: { [option: string]: string | undefined }
  /** The arguments that are no options; at least those that the command needs. */
  args: string[]
  config: Config
  /** Runs `work` on the database of the configuration, migrated, and closes it. */
  withPorts<Result>(work: (opened: OpenPorts) => Promise<Result>): Promise<Result>
  /** Prints what the command has to say; called once. */
  print(output: Output): void
  /** Shows on a terminal how far work is that takes its time. */
  progress(what: string): OnProgress
}

/** One command of the command line. */
export type Command = {
  /** One word or two, as typed. */
  name: string
  /** What it does, in half a line. */
  about: string
  /** Names of the arguments, in order; those in brackets may be left out. */
  args?: string[]
  /** Its options, each with a value; `about` says what the value is where the name does not. */
  options?: { [name: string]: { value: string; about: string; required?: boolean } }
  run(call: Call): Promise<void>
}

/** An error that says the call was wrong, so that the usage is shown with it. */
export function wrongCall(message: string): Error {
  return Object.assign(new Error(message), { code: 'WRONG_CALL' })
}

export function isWrongCall(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'WRONG_CALL'
}
