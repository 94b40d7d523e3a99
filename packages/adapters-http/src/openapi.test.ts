import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { TAGS } from './openapi/words.ts'
import { EXAMPLES, OPENAPI_PATH, servedOpenApi } from './openapi.ts'
import { routes } from './routes/index.ts'
import { recordExamples } from './testing/document-examples.ts'
import { checkDocumented } from './testing/documented.ts'
import { call, startService } from './testing/service.ts'
import { aPerson } from './testing/world.ts'

const OUTDATED = 'is outdated: `pnpm openapi` writes it anew'
const text = servedOpenApi(routes)

describe('the API document', () => {
  test('has examples that were sent and answered', async () => {
    const recorded = await recordExamples()
    await expect(`${JSON.stringify(recorded, null, 2)}\n`, `examples.json ${OUTDATED}`).toMatchFileSnapshot(
      'examples.json',
    )
    expect(Object.keys(recorded.operations).sort()).toEqual(routes.map(({ id }) => id).sort())
  })

  test('is the one that is committed', async () => {
    await expect(text, `openapi.json ${OUTDATED}`).toMatchFileSnapshot('../../../openapi.json')
  })

  test('is OpenAPI 3.1 by the letter', async () => {
    expect(await new Validator().validate(JSON.parse(text))).toEqual({ valid: true })
  })

  test('passes every recommended rule of the linter', async () => {
    // The strict form makes warnings errors; no rule is left out.
    const config = await createConfig({ extends: ['recommended-strict'] })
    const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config })
    expect(problems.map(({ ruleId, message, location: [at] }) => `${ruleId}: ${message} ${at?.pointer}`)).toEqual([])
    const without = await lintFromString({
      source: text.replace('"operationId"', '"x-id"'),
      absoluteRef: 'a.json',
      config,
    })
    expect(without.map(({ ruleId }) => ruleId)).toContain('operation-operationId')
  })

  test('lets fields come to answers, and others be in bodies: only a form has no part but its one', () => {
    // What follows stays true of a client that was generated from an older document (docs/guide/9-versions.md).
    const closed = pathsOf(JSON.parse(text), (part) => part.additionalProperties === false)
    expect(closed.length).toBeGreaterThan(0)
    expect(closed.filter((path) => !path.endsWith('/requestBody/content/multipart/form-data/schema'))).toEqual([])
  })

  test('names what every operation takes of its caller, and describes every parameter', () => {
    const { paths } = JSON.parse(text) as { paths: { [path: string]: { [method: string]: Described } } }
    const roles = ['none', 'authenticated', 'self', 'viewer', 'security_officer', 'owner']
    for (const operation of Object.values(paths).flatMap((path) => Object.values(path))) {
      expect(roles).toContain(operation['x-required-role'])
      for (const { name, description } of operation.parameters ?? []) {
        expect(description, `${name} of ${operation.operationId}`).toMatch(/\.$/)
      }
    }
  })

  test('has one subject for each path', () => {
    const subjects = (path: string) => TAGS.filter((tag) => tag.path.test(path)).map(({ name }) => name)
    for (const path of [...routes.map(({ path }) => path), OPENAPI_PATH]) {
      expect([path, subjects(path)]).toEqual([path, [expect.any(String)]])
    }
    expect(JSON.parse(text).tags.map(({ name }: { name: string }) => name)).toEqual(TAGS.map(({ name }) => name))
  })

  test('is served to everybody, and not twice to who has it', async () => {
    const service = await startService()
    const answer = await call(service, 'GET', OPENAPI_PATH)
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } })
    const { etag } = answer.headers
    expect(answer.bytes.toString()).toBe(text)
    const again = await call(service, 'GET', OPENAPI_PATH, { headers: { 'If-None-Match': etag } })
    expect([again.status, again.headers.etag, again.bytes.length]).toEqual([304, etag, 0])
    expect((await call(service, 'HEAD', OPENAPI_PATH)).headers['content-length']).toBe(String(Buffer.byteLength(text)))
    const posted = await call(service, 'POST', OPENAPI_PATH)
    expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD'])
  })
})

test('an answer of the tests with a field that is not documented is refused, wherever it is', async () => {
  const service = await startService()
  const { token } = await aPerson(service.ports, 'ada@example.com')
  const { headers, json } = await call(service, 'GET', '/api/v1/me', { token })
  const misfit = (body: object, status = 200) => {
    expect(() => checkDocumented('GET', '/api/v1/me', { status, headers, body })).toThrow('additional properties')
  }
  misfit({ ...json, more: 1 })
  misfit({ ...json, data: { ...json.data, more: 1 } })
  delete headers.etag
  misfit({ error: 1, messages: [9153], more: 1 }, 401)
})

test('what was recorded is what the document shows', () => {
  const { paths } = JSON.parse(text) as { paths: { [path: string]: { [method: string]: Operation } } }
  for (const { id, path, method, status, answer } of routes) {
    const type = answer === 'document' ? '*/*' : 'application/json'
    const shown = paths[path]?.[method]?.responses[status]?.content?.[type]?.example
    expect(shown).toBeDefined()
    expect([id, shown]).toEqual([id, EXAMPLES.operations[id]?.answer])
  }
})
type Described = {
  operationId: string
  'x-required-role'?: string
  parameters?: { name: string; description?: string }[]
}
type Operation = { responses: { [status: number]: { content?: { [type: string]: { example?: unknown } } } } }

/** Where in a document there are objects of a kind. */
function pathsOf(part: unknown, isMeant: (part: { [key: string]: unknown }) => boolean, at = ''): string[] {
  if (typeof part !== 'object' || part === null) return []
  const inside = Object.entries(part).flatMap(([name, value]) => pathsOf(value, isMeant, `${at}/${name}`))
  return isMeant(part as { [key: string]: unknown }) ? [at, ...inside] : inside
}
