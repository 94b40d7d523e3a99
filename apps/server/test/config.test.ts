import { describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'

describe('the configuration', () => {
  test('has a value for everything where nothing is set', () => {
    expect(readConfig({})).toEqual({
      HOST: '127.0.0.1',
      PORT: 8080,
      DATABASE_URL: 'sqlite:data/service.sqlite',
      MAIL_FROM: 'security-management@localhost',
      LOG_LEVEL: 'info',
      TOKEN_IN_QUERY: 'allow',
      MAX_JSON_BYTES: 1024 ** 2,
      MAX_FRAMEWORK_BYTES: 8 * 1024 ** 2,
      MAX_DOCUMENT_BYTES: 50 * 1024 ** 2,
      MAX_TRAFFIC_BYTES: 256 * 1024 ** 2,
      TRAFFIC_RETENTION: 30 * 24 * 60 * 60 * 1000,
    })
  })

  test('takes what is set, and an empty variable for one that is not', () => {
    const config = readConfig({
      HOST: '::',
      PORT: '0',
      DATABASE_URL: 'postgres://me:secret@db.example.com/service',
      PUBLIC_URL: 'https://security.example.com/',
      SMTP_URL: 'smtps://me:secret@mail.example.com?requireTLS=true',
      MAIL_FROM: 'security@example.com',
      LOG_LEVEL: '',
      TOKEN_IN_QUERY: 'refuse',
      MAX_TRAFFIC_BYTES: '1000000',
      TRAFFIC_RETENTION: '12h',
      UNRELATED: 'x',
    })
    expect(config).toMatchObject({
      HOST: '::',
      PORT: 0,
      DATABASE_URL: 'postgres://me:secret@db.example.com/service',
      PUBLIC_URL: 'https://security.example.com',
      SMTP_URL: 'smtps://me:secret@mail.example.com?requireTLS=true',
      MAIL_FROM: 'security@example.com',
      LOG_LEVEL: 'info',
      TOKEN_IN_QUERY: 'refuse',
      MAX_TRAFFIC_BYTES: 1_000_000,
      TRAFFIC_RETENTION: 12 * 60 * 60 * 1000,
    })
  })

  test.each([
    ['HOST', 'not a host'],
    ['PORT', '80a'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['DATABASE_URL', 'mysql://me:secret@localhost/service'],
    ['DATABASE_URL', 'sqlite:'],
    ['DATABASE_URL', 'postgres://me:secret with space@:x/'],
    ['PUBLIC_URL', 'security.example.com'],
    ['PUBLIC_URL', 'https://me:secret@example.com'],
    ['PUBLIC_URL', 'https://example.com/?a=secret'],
    ['SMTP_URL', 'http://me:secret@localhost'],
    ['SMTP_URL', 'smtp://'],
    ['SMTP_URL', 'me:secret@localhost'],
    ['MAIL_FROM', 'Security <security@example.com>'],
    ['LOG_LEVEL', 'loud'],
    ['TOKEN_IN_QUERY', 'true'],
    ['MAX_JSON_BYTES', '0'],
    ['MAX_FRAMEWORK_BYTES', '1MB'],
    ['MAX_DOCUMENT_BYTES', '-5'],
    ['MAX_TRAFFIC_BYTES', '1e9'],
    ['TRAFFIC_RETENTION', '30'],
  ])('refuses a wrong %s (%s) with one line that says what it takes, and not what it was', (variable, value) => {
    let message = ''
    try {
      readConfig({ [variable]: value })
    } catch (error) {
      message = error instanceof Error ? error.message : ''
    }
    expect(message).toMatch(new RegExp(`^${variable} takes [^\n]+$`))
    expect(message).not.toContain('secret')
  })

  test('names all wrong variables at once', () => {
    expect(() => readConfig({ PORT: 'x', LOG_LEVEL: 'x' })).toThrow(/PORT takes .*; LOG_LEVEL takes /)
  })
})
