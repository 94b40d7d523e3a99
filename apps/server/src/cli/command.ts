import type { Config } from '../config.ts'
import type { OpenPorts } from '../wire/ports.ts'
import type { OnProgress } from './progress.ts'

/** What a command has to say: to a person, and to a program that asked for JSON. */
export type Output = { text: string; json: unknown }

/** What a command is called with. */
export type Call = {
  /** Values of the options that were given and take one. */
  values: { [option: string]: string | undefined }
  /** The values of each option that may be given more than once, in order. */
  lists: { [option: string]: string[] | undefined }
  /** The options without a value that were given. */
  flags: ReadonlySet<string>
  /** The arguments that are no options; at least those that the command needs. */
  args: string[]
  config: Config
  /** Runs `work` on the database of the configuration, migrated, and closes it. */
  withPorts<Result>(work: (opened: OpenPorts) => Promise<Result>): Promise<Result>
  /** Prints what the command has to say; called once. */
  print(output: Output): void
  /** For what is no report of the command, but what it was called for. */
  stdout: { write(text: string): unknown }
  /** Shows on a terminal how far work is that takes its time. */
  progress(what: string): OnProgress
}

/** An option: without `value` it is given or not; a repeated one may be given more than once. */
export type CommandOption = { value?: string; about: string; required?: boolean; repeated?: boolean }

/** One command of the command line. */
export type Command = {
  /** One word or two, as typed. */
  name: string
  /** What it does, in half a line. */
  about: string
  /** Names of the arguments, in order; those in brackets may be left out. */
  args?: string[]
  /** Its options; `about` says what the value is where the name does not. One without a value is given or not. */
  options?: { [name: string]: CommandOption }
  run(call: Call): Promise<void>
}

/** An error that says the call was wrong, so that the usage is shown with it. */
export function wrongCall(message: string): Error {
  return Object.assign(new Error(message), { code: 'WRONG_CALL' })
}

export function isWrongCall(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === 'WRONG_CALL'
}
