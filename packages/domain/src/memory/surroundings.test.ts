import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { memoryPorts, systemSurroundings } from './index.ts'

const system = systemSurroundings()

test('text and bytes are hashed alike, piece by piece', () => {
  const hash = system.newSha256()
  hash.update('é')
  hash.update(Buffer.from('🛡️'))
  expect(hash.digest()).toBe(createHash('sha256').update('é🛡️').digest('hex'))
})

test('UTF-8 is read piece by piece, and what is none becomes U+FFFD', () => {
  const decoder = system.newUtf8Decoder()
  const bytes = Buffer.from('é🛡️')
  const read = [...bytes].map((byte) => decoder.decode(Uint8Array.of(byte))).join('')
  expect(read + decoder.end()).toBe('é🛡️')
  const broken = system.newUtf8Decoder()
  expect(broken.decode(Uint8Array.of(0x61, 0xff, 0xc3)) + broken.end()).toBe('a\uFFFD\uFFFD')
})

test('ids and random bytes do not repeat', () => {
  expect(new Set(Array.from({ length: 100 }, () => system.newUuid())).size).toBe(100)
  expect(system.randomBytes(32)).toHaveLength(32)
  expect(Buffer.from(system.randomBytes(32))).not.toEqual(Buffer.from(system.randomBytes(32)))
})

test('the clock is the machine’s, unless a test brings one', () => {
  const before = Date.now()
  expect(memoryPorts().now().getTime()).toBeGreaterThanOrEqual(before)
  const fixed = new Date('2026-03-01T12:00:00.000Z')
  expect(memoryPorts({ now: () => fixed }).now()).toBe(fixed)
})
