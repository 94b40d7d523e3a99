import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { gathered } from '../stream.ts'
import { memoryPorts, systemSurroundings } from './index.ts'

const system = systemSurroundings()

test('text and bytes are hashed alike, piece by piece', () => {
  const hash = system.newSha256()
  hash.update('é')
  hash.update(Buffer.from('🛡️'))
  expect(hash.digest()).toBe(createHash('sha256').update('é🛡️').digest('hex'))
})

async function* pieces(bytes: Uint8Array, size: number, failure?: Error): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
  if (failure) throw failure
}

async function collect(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const bytes of content) chunks.push(bytes)
  return Buffer.concat(chunks)
}

test('what was compressed comes back, and is smaller on its way', async () => {
  const bytes = Buffer.from('GET /index.html 200\n'.repeat(20_000))
  const small = await collect(system.compress(pieces(bytes, 65_536)))
  expect(small.length).toBeLessThan(bytes.length / 50)
  expect(await collect(system.decompress(pieces(small, 7)))).toEqual(bytes)
  expect(await collect(system.decompress(system.compress(pieces(Buffer.alloc(0), 1))))).toHaveLength(0)
})

test('a piece may be overwritten once the next one is asked for', async () => {
  const bytes = randomBytes(2_000_000)
  const back = await collect(system.decompress(system.compress(gathered(pieces(bytes, 7000), 65_536))))
  // Byte for byte; `toEqual` looks at each as a property.
  expect(back.equals(bytes)).toBe(true)
})

test('what fails while it is compressed fails with its own error', async () => {
  const failure = new Error('the client went away')
  await expect(collect(system.compress(pieces(Buffer.from('abc'), 1, failure)))).rejects.toBe(failure)
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
