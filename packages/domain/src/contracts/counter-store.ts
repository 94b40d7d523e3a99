import { describe, expect, test } from 'vitest'
import type { Tally } from '../counters/counter-store.ts'
import { aSha256, ODD_TEXT } from './builders.ts'
import { type Open, openOnce } from './opened.ts'
import { fulfilled, tenAtOnce } from './paging.ts'

const START = 1_772_366_400_000

/** The suite that every adapter of `CounterStore` must pass. `open` gives empty stores, new at every call. */
export function counterStoreContract(adapter: string, open: Open): void {
  describe(`CounterStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    const add = (...tallies: Tally[]) => opened.ports.transact(({ counters }) => counters.add(tallies))

    test('counts of one name and start add up, and no others', async () => {
      const [name, other] = [`${ODD_TEXT} ${aSha256()}`, aSha256()]
      expect(await add({ name, start: START, count: 2 })).toEqual([{ name, start: START, count: 2 }])
      const sums = await add(
        { name, start: START, count: 3 },
        { name: other, start: START, count: 1 },
        { name, start: START + 60_000, count: 7 },
      )
      expect(sums).toHaveLength(3)
      expect(sums).toEqual(
        expect.arrayContaining([
          { name, start: START, count: 5 },
          { name: other, start: START, count: 1 },
          { name, start: START + 60_000, count: 7 },
        ]),
      )
    })

    test('nothing is added of nothing', async () => {
      expect(await add()).toEqual([])
    })

    test('what starts before a time is forgotten, and nothing else', async () => {
      const name = aSha256()
      await add({ name, start: 1000, count: 5 }, { name, start: 2000, count: 5 })
      await opened.ports.transact(({ counters }) => counters.forget(2000))
      const sums = await add({ name, start: 1000, count: 1 }, { name, start: 2000, count: 1 })
      expect(new Map(sums.map(({ start, count }) => [start, count]))).toEqual(
        new Map([
          [1000, 1],
          [2000, 6],
        ]),
      )
    })

    test('of a unit of work that fails nothing is counted', async () => {
      const name = aSha256()
      const failing = opened.ports.transact(async ({ counters }) => {
        await counters.add([{ name, start: START, count: 1 }])
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(await add({ name, start: START, count: 1 })).toMatchObject([{ count: 1 }])
    })

    test('ten that add to the same names at once, in any order, lose nothing', async () => {
      const names = [aSha256(), aSha256(), aSha256()]
      const results = await tenAtOnce((index) => {
        const tallies = names.map((name) => ({ name, start: START, count: 1 }))
        return add(...(index % 2 ? tallies : tallies.toReversed()))
      })
      expect(fulfilled(results)).toHaveLength(10)
      const sums = await add(...names.map((name) => ({ name, start: START, count: 0 })))
      expect(sums.map(({ count }) => count)).toEqual([10, 10, 10])
    })
  })
}
