import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** Hundreds of starts compile the same sources; Node keeps what one has compiled for those that follow. */
const COMPILED = fileURLToPath(new URL('../../../../node_modules/.cache/compiled', import.meta.url))

/**
 * Flags of Node that the service is started with, wherever that is: what lives shortly is little, and room for more of it
 * is memory that is never given back.
 */
export const SERVE_FLAGS = ['--max-semi-space-size=4']

/** Where a process runs, and how. */
export type Where = {
  cwd: string
  env?: Record<string, string>
  /** Longest time that it may take to come to an end, in milliseconds; then it is killed. */
  patience?: number | undefined
}

/** How a process, or a command run in this one, ended and what it said. */
export type Ended = { code: number | null; stdout: string; stderr: string; signal?: NodeJS.Signals | null }

/** A running process of the program, from its sources. */
export type Running = {
  child: ChildProcess
  /** What it has said so far. */
  said: { stdout: string; stderr: string }
  ended: Promise<Ended>
}

/**
 * Starts the program in the directory `cwd`, with these variables and none that the tests run under. Without a second
 * listener, unless one is asked for, since its port is no free one.
 */
export function start(args: string[], { cwd, env = {}, patience = 80_000 }: Where): Running {
  const flags = args[0] === 'serve' ? SERVE_FLAGS : []
  const child = spawn(process.execPath, [...flags, '--conditions=source', MAIN, ...args], {
    cwd,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILED, ADMIN_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), patience)
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ code, signal, ...said })
    })
  })
  return { child, said, ended }
}

/** Runs the program to its end. */
export function run(args: string[], where: Where): Promise<Ended> {
  return start(args, where).ended
}

/** A new directory for the files of a test, and how to remove it. */
export async function temporaryDirectory(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'server-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
