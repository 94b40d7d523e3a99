import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

const MIB = 1024 * 1024

/** Memory that a process occupies, in MiB. */
export function memoryOf(pid: number): number {
  if (!existsSync('/proc/self/status')) {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024
  }
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (Number(kib) * 1024) / MIB
}

/** Files, sockets and pipes that a process holds open. */
export function handlesOf(pid: number): number {
  if (existsSync('/proc/self/fd')) return readdirSync(`/proc/${pid}/fd`).length
  return execFileSync('lsof', ['-p', String(pid)], { encoding: 'utf8' }).split('\n').length
}
