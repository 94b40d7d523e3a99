import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { LINE_NAMES, MALICIOUS_VERDICTS } from './line-names.ts'

test('the guide says which fields and words make a line malicious: these and no others', () => {
  const page = readFileSync(new URL('../../../../docs/guide/4-traffic.md', import.meta.url), 'utf8')
  const [, fields = '', words = ''] = /^\| fields \| words \|\n.*\n\| (.*) \| (.*) \|$/m.exec(page) ?? []
  const names = (cell: string) => cell.split(', ').map((name) => name.replace(/^`(.*)`$/, '$1'))
  expect([names(fields), names(words)]).toEqual([[...LINE_NAMES.verdict], [...MALICIOUS_VERDICTS]])
})
