import { constants } from 'node:os'
import { expect, test } from 'vitest'
import { takeLowestPriority } from '../src/lowest-priority.ts'

const isLinux = process.platform === 'linux'

test('the thread asks for the lowest priority, where that is about the thread alone', () => {
  const asked: number[] = []
  const told: unknown[] = []
  takeLowestPriority({ warn: (...line: unknown[]) => void told.push(line) }, (priority) => void asked.push(priority))
  expect(asked).toEqual(isLinux ? [constants.priority.PRIORITY_LOW] : [])
  expect(told).toEqual([])
})

test('the thread goes on where the system forbids that, and says so', () => {
  const told: unknown[] = []
  const refused = new Error('uv_os_setpriority returned EPERM')
  takeLowestPriority({ warn: (line: unknown) => void told.push(line) }, () => {
    throw refused
  })
  expect(told).toEqual(isLinux ? [{ err: refused }] : [])
})
