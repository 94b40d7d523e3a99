import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { isShown, stepsOf, told, withAnswers } from './support/guide.ts'

describe('a page', () => {
  const page =
    'Try\n\n```sh\necho 1\n```\n```json\n1\n```\n\n```sh\necho 2\n```\n\nand\n\n```json\nnot an answer\n```\n```sh\necho "sms_abcdefgh at 2026-01-01T00:00:00Z"\n```\n```text\nsms_zyxwvuts at 2025-12-31T00:00:00Z\n```\n'

  test('has steps, of which some show what they say', () => {
    expect(stepsOf(page)).toEqual([
      { commands: 'echo 1\n', shown: '1\n' },
      { commands: 'echo 2\n' },
      { commands: 'echo "sms_abcdefgh at 2026-01-01T00:00:00Z"\n', shown: 'sms_zyxwvuts at 2025-12-31T00:00:00Z\n' },
    ])
  })

  test('tells what was said, whenever it was, and `…` stands for anything', () => {
    expect(isShown('{"id":1,…,"b":2}', '{"id":1,"a":[{}],"b":2}\n')).toBe(true)
    expect(isShown('{"id":1,…,"b":2}', '{"id":2,"a":[{}],"b":2}\n')).toBe(false)
    expect(isShown('{"id":1}', '{"id":1,"more":true}')).toBe(false)
    expect(told('sms_abcdefgh')).toBe(told('sms_zyxwvuts'))
    expect(isShown('at 2025-12-31T00:00:00Z', 'at 2026-01-01T00:00:00.123Z')).toBe(true)
  })

  test('is rewritten where an answer tells something else, and nowhere else', () => {
    expect(withAnswers(page, ['1\n', '2\n', 'sms_zyxwvuts at 2026-01-01T00:00:00Z\n'])).toBe(page)
    expect(withAnswers(page, ['one\n', '2\n', 'nothing\n'])).toBe(
      page.replace('\n1\n', '\none\n').replace('sms_zyxwvuts at 2025-12-31T00:00:00Z', 'nothing'),
    )
  })
})

test('what the guide shows of a client in TypeScript is in the example, which the compiler checks', async () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const page = await readFile(`${root}docs/guide/10-clients.md`, 'utf8')
  const shown = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code)
  const example = await readFile(`${root}examples/typescript/walk.ts`, 'utf8')
  expect(shown.length).toBeGreaterThan(0)
  for (const code of shown) expect(example).toContain(code)
})
