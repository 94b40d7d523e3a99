import { describe, expect, test } from 'vitest'
import type { Stores } from '../ports.ts'
import { aSha256 } from './builders.ts'
import { NOW, type Open, openOnce } from './opened.ts'
import { expectRolledBack, fulfilled, tenAtOnce } from './paging.ts'

const EARLIER = '2026-02-28T12:00:00.000Z'
const BYTES = new Uint8Array([0, 255, 13, 10, 128])

/** The suite that every adapter of `AnswerStore` must pass. `open` gives empty stores, new at every call. */
export function answerStoreContract(adapter: string, open: Open): void {
  describe(`AnswerStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function keep(id: string, sealed: Uint8Array, at = NOW): Promise<void> {
      await opened.ports.transact(async ({ answers }) => {
        await answers.claim(id, at, EARLIER)
        await answers.keep(id, sealed)
      })
    }
    async function find(id: string, since = EARLIER): Promise<number[] | undefined> {
      const sealed = await opened.ports.answers.find(id, since)
      return sealed && [...sealed]
    }

    test('what is kept under a claimed name comes back to who claims it next, and to who looks', async () => {
      const id = aSha256()
      await opened.ports.transact(async ({ answers }) => {
        expect(await answers.claim(id, NOW, EARLIER)).toBeUndefined()
        await answers.keep(id, BYTES)
      })
      const again = await opened.ports.transact(({ answers }) => answers.claim(id, NOW, EARLIER))
      expect([...(again ?? [])]).toEqual([...BYTES])
      expect(await find(id)).toEqual([...BYTES])
      expect(await find(aSha256())).toBeUndefined()
    })

    test('a name that was claimed and not used is free', async () => {
      const id = aSha256()
      for (let times = 0; times < 2; times += 1) {
        expect(await opened.ports.transact(({ answers }) => answers.claim(id, NOW, EARLIER))).toBeUndefined()
        expect(await find(id)).toBeUndefined()
      }
    })

    test('what was kept before the time that counts is as if it were not there', async () => {
      const id = aSha256()
      await keep(id, BYTES, '2026-02-28T11:59:59.999Z')
      expect(await find(id)).toBeUndefined()
      await keep(id, new Uint8Array([1]))
      expect(await find(id)).toEqual([1])
      expect(await find(id, NOW)).toEqual([1])
    })

    test('what is old enough is forgotten, and nothing else', async () => {
      const [old, young] = [aSha256(), aSha256()]
      await keep(old, BYTES, EARLIER)
      await keep(young, BYTES, NOW)
      await opened.ports.transact(({ answers }) => answers.forget(NOW))
      expect([await find(old, ''), await find(young, '')]).toEqual([undefined, [...BYTES]])
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const id = aSha256()
      await expectRolledBack(
        opened.ports,
        async ({ answers }) => {
          await answers.claim(id, NOW, EARLIER)
          await answers.keep(id, BYTES)
        },
        () => find(id),
      )
    })

    test('of ten claims at once one makes the answer, and the others wait for it', async () => {
      const id = aSha256()
      const made: number[] = []
      const results = await tenAtOnce((index) =>
        opened.ports.transact(async ({ answers }) => {
          const earlier = await answers.claim(id, NOW, EARLIER)
          if (earlier) return [...earlier]
          made.push(index)
          await answers.keep(id, new Uint8Array([index]))
          return [index]
        }),
      )
      expect(made).toHaveLength(1)
      expect(fulfilled(results)).toEqual(Array.from({ length: 10 }, () => made))
    })

    test('of ten claims at once those that fail make room for the next', async () => {
      const id = aSha256()
      let failures = 0
      const attempt = async ({ answers }: Stores) => {
        const earlier = await answers.claim(id, NOW, EARLIER)
        if (earlier) return [...earlier]
        failures += 1
        if (failures <= 3) throw new Error('no')
        await answers.keep(id, new Uint8Array([4]))
        return [4]
      }
      const results = await tenAtOnce(() => opened.ports.transact(attempt))
      expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(3)
      expect(fulfilled(results)).toEqual(Array.from({ length: 7 }, () => [4]))
    })
  })
}
