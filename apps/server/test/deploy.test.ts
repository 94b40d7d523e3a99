import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SERVE_FLAGS } from './support/program.ts'

const textOf = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

test.each([
  ['package.json', /exec node (.*) apps\/server\/dist\/main\.js serve"/],
  ['deploy/security-management.service', /^ExecStart=\/usr\/bin\/node (.*) \/opt\/\S+\/main\.js serve$/m],
  ['deploy/Dockerfile', /^ENTRYPOINT \["node", "(.*)", "\/app\/\S+\/main\.js"\]$/m],
])('%s starts the service as the tests do', (path, start) => {
  const [, flags = ''] = start.exec(textOf(path)) ?? []
  expect(flags.split(/", "| /)).toEqual(SERVE_FLAGS)
})
