import { DomainError } from '@security-management/domain'
import { describe, expect, test } from 'vitest'
import { arriving, deadline, keeping } from './pace.ts'

async function* never(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1)
  await new Promise(() => {})
}

async function collect(content: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0
  for await (const bytes of content) size += bytes.length
  return size
}

describe('a pace', () => {
  const pace = { bytes: 100, milliseconds: 1000 }

  test('counts the time that was waited, until enough has moved', () => {
    const clock = keeping(pace)
    clock.note(300, 50)
    clock.note(300, 49)
    expect(clock.left()).toBe(400)
    clock.note(399, 1)
    expect(clock.left()).toBe(1000)
  })

  test('that is not kept leaves no time', () => {
    const clock = keeping(pace)
    for (let count = 0; count < 10; count += 1) clock.note(100, 9)
    expect(clock.left()).toBeLessThanOrEqual(0)
  })
})

describe('what arrives', () => {
  test('in time passes unchanged', async () => {
    async function* content() {
      yield new Uint8Array(3)
      yield new Uint8Array(4)
    }
    expect(await collect(arriving(content(), deadline(1000)))).toBe(7)
  })

  test('too late is refused, without waiting for it any longer', async () => {
    const late = collect(arriving(never(), deadline(20)))
    await expect(late).rejects.toMatchObject({ name: 'DomainError', code: 'too_slow' })
    await expect(collect(arriving(never(), keeping({ bytes: 100, milliseconds: 20 })))).rejects.toThrow(DomainError)
  })

  test('fails with the error of its source', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(1)
      throw new Error('reset')
    }
    await expect(collect(arriving(broken(), deadline(1000)))).rejects.toThrow('reset')
  })

  test('is let go of when nobody wants more', async () => {
    let isOver = false
    async function* content() {
      try {
        for (;;) yield new Uint8Array(1)
      } finally {
        isOver = true
      }
    }
    for await (const _ of arriving(content(), deadline(1000))) break
    expect(isOver).toBe(true)
  })
})
