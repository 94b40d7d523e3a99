import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLineMarks, MAX_MARKED } from './line-marks.ts'

test('marks are what was added, now and when they are opened again', () => {
  const places = fc.array(fc.nat({ max: 5000 }), { maxLength: 30 })
  fc.assert(
    fc.property(places, places, (first, second) => {
      const before = createLineMarks()
      for (const line of first) before.add(line)
      const bytes = before.bytes()
      const marks = createLineMarks(bytes)
      for (const line of second) marks.add(line)
      const expected = new Set([...first, ...second])
      for (const line of [...expected, ...first.map((at) => at + 1), 6000])
        expect(marks.has(line)).toBe(expected.has(line))
      // What is kept is no longer than the last mark, and what it was opened from is left as it was.
      expect(marks.bytes()).toHaveLength(expected.size === 0 ? 0 : (Math.max(...expected) >> 3) + 1)
      expect(before.bytes()).toEqual(bytes)
    }),
  )
})

test('a line past those that can be marked takes no memory, and is found only once', () => {
  const first = createLineMarks()
  first.add(MAX_MARKED - 1)
  first.add(MAX_MARKED)
  expect([first.has(MAX_MARKED - 1), first.has(MAX_MARKED)]).toEqual([true, false])
  expect(first.bytes()).toHaveLength(MAX_MARKED / 8)
  const again = createLineMarks(new Uint8Array())
  expect([again.has(MAX_MARKED - 1), again.has(MAX_MARKED)]).toEqual([false, true])
})
