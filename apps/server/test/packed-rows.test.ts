import { expect, test } from 'vitest'
import { packRows, unpackRows } from '../src/packed-rows.ts'

test('packed rows come back in order, as often as they are gone through', () => {
  for (const count of [0, 1, 250, 251, 2000]) {
    const rows = Array.from({ length: count }, (_, index) => ({ index, text: `${index} "é\n` }))
    const unpacked = unpackRows(packRows(rows))
    expect([...unpacked]).toEqual(rows)
    expect([...unpacked]).toEqual(rows)
  }
})

test('rows that nobody came to yet are not made', () => {
  const [one, two] = unpackRows([...packRows([1, 2]), Buffer.from('not packed')])
  expect([one, two]).toEqual([1, 2])
})
