import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { EXAMPLES, OPENAPI_PATH, servedOpenApi } from './openapi.ts'
import { routes } from './routes/index.ts'
import { recordExamples } from './testing/document-examples.ts'
import { call, startService } from './testing/service.ts'

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

test('what was recorded is what the document shows', () => {
  const { paths } = JSON.parse(text) as { paths: { [path: string]: { [method: string]: Operation } } }
  for (const { id, path, method, status, answer } of routes) {
    const shown = paths[path]?.[method]?.responses[status]?.content?.['application/json']?.example
    expect([id, shown]).toEqual([id, answer === 'document' ? undefined : EXAMPLES.operations[id]?.answer])
  }
})
type Operation = { responses: { [status: number]: { content?: { [type: string]: { example?: unknown } } } } }
