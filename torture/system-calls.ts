import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** One system call: of which process or thread, when it began and ended, in seconds since 1970, and how strace writes it. */
export type SystemCall = { pid: string; began: number; ended: number; text: string }

/** Whether this machine has strace, and lets it look at other processes of ours. */
export async function mayTrace(): Promise<boolean> {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' })
  try {
    const { stop } = await startTrace(child.pid ?? 0, '/dev/null')
    await stop()
    return true
  } catch {
    return false
  } finally {
    child.kill('SIGKILL')
  }
}

/**
 * Follows what a process, and those that it starts from now on, read, write and sync.
 *
 * @throws Error where there is no strace, or it may not.
 */
export async function startTrace(pid: number, output: string): Promise<{ stop(): Promise<SystemCall[]> }> {
  const calls = 'trace=read,recvfrom,write,writev,sendto,pwrite64,pwritev,fsync,fdatasync'
  await promisify(execFile)('strace', ['--version'])
  const child = spawn('strace', ['-f', '-y', '-ttt', '-T', '-s', '64', '-e', calls, '-o', output, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  const said = await Promise.race([
    once(child.stderr, 'data').then(([text]) => String(text)),
    ended.then(() => 'ended'),
  ])
  if (!said.includes('attached')) {
    child.kill('SIGKILL')
    throw new Error(`strace may not: ${said}`)
  }
  return {
    async stop() {
      // What the process has just done is written out first.
      await sleep(200)
      child.kill('SIGINT')
      await ended
      return readCalls(output === '/dev/null' ? '' : await readFile(output, 'latin1'))
    },
  }
}

/** Reads `PID TIME call(…) = RESULT <DURATION>`, also where another process's line stands between its two halves. */
function readCalls(text: string): SystemCall[] {
  const halves = new Map<string, SystemCall>()
  const calls: SystemCall[] = []
  for (const line of text.split('\n')) {
    const [, pid = '', time = '', rest = ''] = /^(\d+) +(\d+\.\d+) (.*)$/.exec(line) ?? []
    const began = Number(time)
    if (rest.endsWith('<unfinished ...>')) halves.set(pid, { pid, began, ended: began, text: rest })
    else if (rest.startsWith('<... ')) {
      const first = halves.get(pid)
      halves.delete(pid)
      if (first) calls.push({ pid, began: first.began, ended: began, text: `${first.text} ${rest}` })
    } else if (rest !== '')
      calls.push({ pid, began, ended: began + Number(/<(\d+\.\d+)>$/.exec(rest)?.[1] ?? 0), text: rest })
  }
  return calls.sort((a, b) => a.began - b.began)
}
