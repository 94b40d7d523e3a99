import { describe, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'

describe('the configuration', () => {
  test('has a value for everything where nothing is set', () => {
    expect(readConfig({})).toEqual({
      HOST: '127.0.0.1',
      PORT: 8080,
      ADMIN_HOST: '127.0.0.1',
      ADMIN_PORT: 9090,
      WORKERS: 1,
      STOP_DELAY: 0,
      DATABASE_URL: 'sqlite:data/service.sqlite',
      MAIL_FROM: 'security-management@localhost',
      LOG_LEVEL: 'info',
      TOKEN_IN_QUERY: 'allow',
      MAX_JSON_BYTES: 1024 ** 2,
      MAX_FRAMEWORK_BYTES: 8 * 1024 ** 2,
      MAX_DOCUMENT_BYTES: 50 * 1024 ** 2,
      MAX_TRAFFIC_BYTES: 256 * 1024 ** 2,
      REQUEST_TIMEOUT: 30_000,
      UPLOAD_TIMEOUT: 300_000,
      KEEP_ALIVE_TIMEOUT: 5000,
      MAX_CONNECTIONS: 1000,
      MAX_REQUESTS_PER_CONNECTION: 1000,
      MAX_FAILED_AUTHENTICATIONS: { limit: 120, window: 60_000 },
      TRUST_PROXY: 0,
      TRAFFIC_RETENTION: 30 * 24 * 60 * 60 * 1000,
    })
  })

  test('takes what is set, and an empty variable for one that is not', () => {
    const config = readConfig({
      HOST: '::',
      PORT: '0',
      ADMIN_HOST: '::1',
      ADMIN_PORT: '0',
      WORKERS: '4',
      STOP_DELAY: '3',
      DATABASE_URL: 'postgres://me:secret@db.example.com/service',
      PUBLIC_URL: 'https://security.example.com/',
      SMTP_URL: 'smtps://me:secret@mail.example.com?requireTLS=true',
      MAIL_FROM: 'security@example.com',
      LOG_LEVEL: '',
      TOKEN_IN_QUERY: 'refuse',
      MAX_TRAFFIC_BYTES: '1000000',
      STORAGE_QUOTA: '1000000000',
      REQUEST_TIMEOUT: '10s',
      UPLOAD_TIMEOUT: '60m',
      MAX_FAILED_AUTHENTICATIONS: 'off',
      RATE_LIMIT: '10000/h',
      TRUST_PROXY: '2',
      TRAFFIC_RETENTION: '12h',
      UNRELATED: 'x',
    })
    expect(config).toMatchObject({
      HOST: '::',
      PORT: 0,
      ADMIN_HOST: '::1',
      ADMIN_PORT: 0,
      WORKERS: 4,
      STOP_DELAY: 3000,
      DATABASE_URL: 'postgres://me:secret@db.example.com/service',
      PUBLIC_URL: 'https://security.example.com',
      SMTP_URL: 'smtps://me:secret@mail.example.com?requireTLS=true',
      MAIL_FROM: 'security@example.com',
      LOG_LEVEL: 'info',
      TOKEN_IN_QUERY: 'refuse',
      MAX_TRAFFIC_BYTES: 1_000_000,
      STORAGE_QUOTA: 1_000_000_000,
      REQUEST_TIMEOUT: 10_000,
      UPLOAD_TIMEOUT: 3_600_000,
      MAX_FAILED_AUTHENTICATIONS: undefined,
      RATE_LIMIT: { limit: 10_000, window: 3_600_000 },
      TRUST_PROXY: 2,
      TRAFFIC_RETENTION: 12 * 60 * 60 * 1000,
    })
  })

  test.each([
    ['HOST', 'not a host'],
    ['PORT', '80a'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['ADMIN_HOST', 'not a host'],
    ['ADMIN_PORT', 'off'],
    ['WORKERS', '0'],
    ['WORKERS', '65'],
    ['WORKERS', 'auto'],
    ['STOP_DELAY', '3s'],
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
    ['STORAGE_QUOTA', '1GB'],
    ['REQUEST_TIMEOUT', '30'],
    ['UPLOAD_TIMEOUT', '61m'],
    ['KEEP_ALIVE_TIMEOUT', '0s'],
    ['MAX_CONNECTIONS', '0'],
    ['MAX_REQUESTS_PER_CONNECTION', 'many'],
    ['MAX_FAILED_AUTHENTICATIONS', '5'],
    ['RATE_LIMIT', '0/min'],
    ['RATE_LIMIT', '10/s'],
    ['TRUST_PROXY', 'true'],
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
