import { expect, test } from 'vitest'
import { MAX_PAGE_BYTES, requirePageSize } from './page.ts'

test('a page of more than one record has at most 64 MiB where nothing else is said', () => {
  const check = (limit: number, bytes: number) => () => requirePageSize({ limit, offset: 0, order: 'id' }, 2, bytes)
  expect(MAX_PAGE_BYTES).toBe(64 * 1024 * 1024)
  expect(check(2, MAX_PAGE_BYTES)).not.toThrow()
  expect(check(2, MAX_PAGE_BYTES + 1)).toThrow('limit')
  expect(check(1, MAX_PAGE_BYTES + 1)).not.toThrow()
})
