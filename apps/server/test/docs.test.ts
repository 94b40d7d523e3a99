import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { temporaryDirectory } from './support/program.ts'
import { startServer, type TestServer } from './support/server.ts'

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let server: TestServer

beforeAll(async () => {
  directory = await temporaryDirectory()
  server = await startServer(directory.path)
})

afterAll(async () => {
  await server?.stop()
  await directory?.remove()
})

const get = (path: string, init?: RequestInit) => fetch(`${server.address}${path}`, init)

test('the page runs nothing and asks for nothing but what the service itself gives', async () => {
  const page = await get('/docs')
  expect([page.status, page.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8'])
  const policy = page.headers.get('Content-Security-Policy')
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
  expect(policy).not.toMatch(/unsafe|\*|https?:/)
  const html = await page.text()
  expect(html).not.toMatch(/<style|style=|<script>| on\w+=|https?:\/\//)
  expect(await get('/api/v1/openapi.json').then((answer) => answer.text())).toBe(
    await readFile(new URL('../../../openapi.json', import.meta.url), 'utf8'),
  )
})

test('its files may be kept for good, and the page is asked for again', async () => {
  const page = await get('/docs')
  expect(page.headers.get('Cache-Control')).toBe('no-cache')
  const etag = page.headers.get('ETag') ?? ''
  expect((await get('/docs', { headers: { 'If-None-Match': etag } })).status).toBe(304)
  const files = [...(await page.text()).matchAll(/(?:href|src)="(docs\/[^"]+)"/g)].map(([, path]) => path)
  const answers = await Promise.all(files.map((path) => get(`/${path}`)))
  expect(answers.map(({ headers }) => headers.get('Content-Type'))).toEqual([
    'image/png',
    'text/css; charset=utf-8',
    'text/javascript; charset=utf-8',
    'text/javascript; charset=utf-8',
  ])
  for (const { headers } of answers) {
    expect(headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
  }
})

test.each(['/docs/', '/docs/..%2fpackage.json', '/docs/%2e%2e/package.json', '/docs/index.html', '/docs/start.js'])(
  '%s is no file of it',
  async (path) => {
    const answer = await get(path)
    expect([answer.status, await answer.json()]).toEqual([404, { error: 1, messages: [] }])
  },
)

test('the page can be read, and nothing else', async () => {
  const answer = await get('/docs', { method: 'POST', body: '{}' })
  expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
  const head = await get('/docs', { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})
