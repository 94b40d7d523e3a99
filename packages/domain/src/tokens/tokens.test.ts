import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memoryPorts } from '../memory/index.ts'
import { anyText } from '../testing/any-text.ts'
import { aPerson, aWorld, expectRefused, happened, refusedPaths } from '../testing/world.ts'
import { authenticate, noteTokenUse } from './authenticate.ts'
import { issueToken } from './issue-token.ts'
import { listTokens } from './list-tokens.ts'
import { revokeToken } from './revoke-token.ts'
import { hashSecret, INVITATION_PREFIX, isSecret, newSecret, TOKEN_PREFIX } from './secret.ts'

describe('a secret', () => {
  const ports = memoryPorts()
  const prefixes = fc.constantFrom(TOKEN_PREFIX, INVITATION_PREFIX)

  test('has its prefix, 43 characters and a checksum of 6, and is recognised', () => {
    fc.assert(
      fc.property(prefixes, (prefix) => {
        const secret = newSecret(ports, prefix)
        expect(secret).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`))
        expect(isSecret(ports, prefix, secret)).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test('is recognised for what it is: an invitation is no token', () => {
    const secret = newSecret(ports, 'sms_')
    expect(isSecret(ports, 'smi_', secret)).toBe(false)
    expect(isSecret(ports, 'smi_', secret.replace('sms_', 'smi_'))).toBe(false)
  })

  test('with one character changed it is none', () => {
    const characters = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']
    const secret = newSecret(ports, 'sms_')
    fc.assert(
      fc.property(fc.integer({ min: 4, max: secret.length - 1 }), fc.constantFrom(...characters), (at, character) => {
        fc.pre(secret[at] !== character)
        expect(isSecret(ports, 'sms_', secret.slice(0, at) + character + secret.slice(at + 1))).toBe(false)
      }),
      { numRuns: 100 },
    )
  })

  test('no other text is one', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), anyText()), (text) => {
        expect(isSecret(ports, 'sms_', text)).toBe(false)
        expect(isSecret(ports, 'sms_', `sms_${text}`)).toBe(false)
      }),
      { numRuns: 100 },
    )
    const secret = newSecret(ports, 'sms_')
    for (const text of [`${secret}\n`, ` ${secret}`, `${secret}x`, secret.slice(0, -1)]) {
      expect(isSecret(ports, 'sms_', text)).toBe(false)
    }
  })

  test('uses every character equally, whatever the bytes', () => {
    const bytesFrom = (first: number) => ({
      ...ports,
      randomBytes: (count: number) => Uint8Array.from({ length: count }, (_, at) => first + (at % (256 - first))),
    })
    expect(newSecret(bytesFrom(192), 'sms_').slice(4, 47)).toBe('6789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklm')
    // Bytes from 248 up would make the first eight characters likelier than the others.
    expect(newSecret(bytesFrom(240), 'sms_').slice(4, 47)).toBe('stuvwxyz'.repeat(6).slice(0, 43))
  })

  test('is stored as its SHA-256', () => {
    expect(hashSecret(ports, 'abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  })
})

describe('issuing a token', () => {
  test('works by id and by address, without case', async () => {
    const world = await aWorld()
    const { user } = await aPerson(world, 'ada@example.com')
    for (const named of [user, user.toUpperCase(), 'ADA@Example.com']) {
      const { id, token } = await issueToken(world.ports, { user: named })
      expect(await authenticate(world.ports, token)).toEqual({ user, token: id, useIsDue: true })
    }
  })

  test('keeps the hash and the first characters alone', async () => {
    const world = await aWorld()
    const { user } = await aPerson(world)
    const expires_at = '2027-01-01T01:00:00+01:00'
    const { id, token } = await issueToken(world.ports, { user, name: ' laptop ', expires_at })
    expect(await listTokens(world.ports)).toEqual([
      {
        id,
        user_id: user,
        name: 'laptop',
        prefix: token.slice(0, 10),
        created_at: '2026-03-01T12:00:00.000Z',
        expires_at: '2027-01-01T00:00:00.000Z',
        last_used_at: null,
        revoked_at: null,
      },
    ])
    expect(happened(world)).toMatchObject([
      { type: 'token.issued', user_id: null, record: String(id), details: { user } },
    ])
    expect(JSON.stringify(world.ports.published)).not.toContain('sms_')
  })

  test('is for registered people, and not for the past', async () => {
    const world = await aWorld()
    const { user } = await aPerson(world)
    await expectRefused(world, 'not_found', () => issueToken(world.ports, { user: 'nobody@example.com' }))
    await expectRefused(world, 'not_found', () => issueToken(world.ports, { user: 'nobody' }))
    const past = { user, expires_at: '2026-03-01T12:00:00Z' }
    expect(await refusedPaths(issueToken(world.ports, past))).toEqual(['expires_at'])
    expect(await refusedPaths(issueToken(world.ports, { name: '', expires_at: 'soon' }))).toEqual([
      'user',
      'name',
      'expires_at',
    ])
  })
})

describe('authenticating', () => {
  test('a token works until it expires', async () => {
    const world = await aWorld()
    const { user } = await aPerson(world)
    const { token } = await issueToken(world.ports, { user, expires_at: '2026-03-02' })
    world.clock.now = '2026-03-01T23:59:59.999Z'
    expect(await authenticate(world.ports, token)).toMatchObject({ user })
    world.clock.now = '2026-03-02T00:00:00.000Z'
    await expectRefused(world, 'unauthenticated', () => authenticate(world.ports, token))
  })

  test('a revoked token fails at the very next request', async () => {
    const world = await aWorld()
    const { user } = await aPerson(world)
    const { id, token } = await issueToken(world.ports, { user })
    await revokeToken(world.ports, id)
    await expectRefused(world, 'unauthenticated', () => authenticate(world.ports, token))
    await expectRefused(world, 'not_found', () => revokeToken(world.ports, id))
    await expectRefused(world, 'not_found', () => revokeToken(world.ports, 999))
    expect(happened(world, 'token.revoked')).toMatchObject([{ record: String(id), user_id: null }])
  })

  test('nothing else is a token', async () => {
    const world = await aWorld()
    const { ports } = world
    for (const text of ['', 'sms_', newSecret(ports, 'sms_'), newSecret(ports, 'smi_'), 'Bearer x', '\u0000']) {
      await expectRefused(world, 'unauthenticated', () => authenticate(ports, text))
    }
  })

  test('the last use is due to be noted at most once a minute', async () => {
    const world = await aWorld()
    const { user } = await aPerson(world)
    const { id, token } = await issueToken(world.ports, { user })
    const isDue = async () => (await authenticate(world.ports, token)).useIsDue
    expect(await isDue()).toBe(true)
    await noteTokenUse(world.ports, id)
    expect(await isDue()).toBe(false)
    world.clock.now = '2026-03-01T12:01:00.000Z'
    expect(await isDue()).toBe(false)
    world.clock.now = '2026-03-01T12:01:00.001Z'
    expect(await isDue()).toBe(true)
    await noteTokenUse(world.ports, id)
    expect((await listTokens(world.ports))[0]?.last_used_at).toBe('2026-03-01T12:01:00.001Z')
  })
})
