import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Caller } from '../access/caller.ts'
import { storeOrganization } from '../contracts/builders.ts'
import { readMe } from '../members/read-me.ts'
import { removeMember } from '../members/remove-member.ts'
import { memoryPorts } from '../memory/index.ts'
import { listNotifications } from '../notifications/list-notifications.ts'
import { markAllNotificationsRead, markNotificationRead } from '../notifications/mark-notification-read.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import { listOrganizations } from '../organizations/list-organizations.ts'
import { anyText } from '../testing/any-text.ts'
import { aPerson, aWorld, expectRefused, happened, refusedPaths, type World } from '../testing/world.ts'
import { authenticate, noteTokenUse } from './authenticate.ts'
import { issueOwnToken, MAX_LIVE_TOKENS } from './issue-own-token.ts'
import { issueToken } from './issue-token.ts'
import { listOwnTokens } from './list-own-tokens.ts'
import { listTokens } from './list-tokens.ts'
import { revokeOwnToken } from './revoke-own-token.ts'
import { revokeToken } from './revoke-token.ts'
import { permitRotateToken, rotateToken } from './rotate-token.ts'
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
      const narrowing = { access: 'full', organizations: null }
      expect(await authenticate(world.ports, token)).toEqual({ user, token: id, narrowing, useIsDue: true })
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
        access: 'full',
        organizations: null,
        created_at: '2026-03-01T12:00:00.000Z',
        expires_at: '2027-01-01T00:00:00.000Z',
        last_used_at: null,
        revoked_at: null,
      },
    ])
    expect(happened(world)).toMatchObject([
      {
        type: 'token.issued',
        user_id: null,
        record: String(id),
        changes: { name: [null, 'laptop'], access: [null, 'full'] },
        details: { user },
      },
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

  test('a text of the wrong form, or with a wrong checksum, is not even looked up', async () => {
    const { ports } = await aWorld()
    let asked = 0
    const tokens = {
      ...ports.tokens,
      findByHash: async () => {
        asked += 1
        return undefined
      },
    }
    const refused = (text: string) =>
      expect(authenticate({ ...ports, tokens }, text)).rejects.toMatchObject({ code: 'unauthenticated' })
    const token = newSecret(ports, 'sms_')
    const mistyped = token.slice(0, 9) + (token[9] === 'a' ? 'b' : 'a') + token.slice(10)
    for (const text of [mistyped, token.slice(1), `${token}x`, 'x', newSecret(ports, 'smi_')]) await refused(text)
    expect(asked).toBe(0)
    await refused(token)
    expect(asked).toBe(1)
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

  test('a use that another process noted a moment ago is not noted again', async () => {
    const world = await aWorld()
    const { user } = await aPerson(world)
    const { id } = await issueToken(world.ports, { user })
    await noteTokenUse(world.ports, id)
    world.clock.now = '2026-03-01T12:00:59.999Z'
    await noteTokenUse(world.ports, id)
    expect((await listTokens(world.ports))[0]?.last_used_at).toBe('2026-03-01T12:00:00.000Z')
  })
})

/** A token that the caller issued for themselves, and who shows it. */
async function anOwnToken({ ports }: World, caller: Caller, wanted: object = {}) {
  const issued = await issueOwnToken(ports, caller, { name: 'laptop', ...wanted })
  return { ...issued, caller: await shown(ports, issued.token) }
}

/** Who shows this token. */
async function shown(ports: World['ports'], token: string): Promise<Caller> {
  const { useIsDue: _, ...caller } = await authenticate(ports, token)
  return caller
}

describe('issuing a token for oneself', () => {
  test('answers it once, with what it is', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const wanted = {
      name: ' ci ',
      expires_at: '2026-04-01',
      access: 'read',
      organizations: [organization, organization],
    }
    const { token, ...told } = await issueOwnToken(ports, as.owner, wanted)
    const narrowing = { access: 'read', organizations: [organization] }
    expect(told).toEqual({
      id: expect.any(Number),
      name: 'ci',
      prefix: token.slice(0, 10),
      ...narrowing,
      created_at: '2026-03-01T12:00:00.000Z',
      expires_at: '2026-04-01T00:00:00.000Z',
      last_used_at: null,
    })
    expect(await shown(ports, token)).toEqual({ user: as.owner.user, token: told.id, narrowing })
    expect(await listOwnTokens(ports, as.owner)).toEqual({ total: 1, data: [told] })
    expect(happened(world)).toMatchObject([{ type: 'token.issued', user_id: as.owner.user, record: String(told.id) }])
    expect(JSON.stringify(ports.published)).not.toContain('sms_')
  })

  test('takes a name, a time to come, and organizations that the person belongs to', async () => {
    const { ports, as, organization } = await aWorld()
    const other = await storeOrganization(ports)
    const wrong = (input: unknown) => refusedPaths(issueOwnToken(ports, as.viewer, input))
    expect(await wrong({})).toEqual(['name'])
    expect(await wrong({ name: ' ', access: 'write', organizations: ['1'], expires_at: 'soon' })).toEqual([
      'name',
      'expires_at',
      'access',
      'organizations.0',
    ])
    const name = 'x'
    expect(await wrong({ name, expires_at: '2026-03-01T12:00:00Z' })).toEqual(['expires_at'])
    expect(await wrong({ name, organizations: [] })).toEqual(['organizations'])
    expect(await wrong({ name, organizations: [other] })).toEqual(['organizations.0'])
    expect(await wrong({ name, organizations: [other, organization, 999] })).toEqual([
      'organizations.0',
      'organizations.2',
    ])
    const byOperator = issueToken(ports, { user: as.viewer.user, organizations: [other] })
    expect(await refusedPaths(byOperator)).toEqual(['organizations.0'])
    expect(await listOwnTokens(ports, as.viewer)).toEqual({ total: 0, data: [] })
  })

  test('goes up to a hundred live ones, which those of the operator count for and are not held to', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const { user } = as.viewer
    const { id } = await issueToken(ports, { user, expires_at: '2026-03-02' })
    for (let count = 2; count < MAX_LIVE_TOKENS; count += 1) await issueToken(ports, { user })
    const issue = (caller: Caller) => issueOwnToken(ports, caller, { name: 'x' })
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => issue(as.viewer)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expectRefused(world, 'conflict', () => issue(as.viewer))
    await issue(as.owner)
    await issueToken(ports, { user })
    await revokeToken(ports, id)
    await expectRefused(world, 'conflict', () => issue(as.viewer))
    const { data } = await listOwnTokens(ports, as.viewer)
    await revokeToken(ports, data[0]?.id ?? 0)
    await expect(issue(as.viewer)).resolves.toBeDefined()
  })
})

describe("a person's own tokens", () => {
  test('are listed newest first, expired ones too, without revoked ones and those of others', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const first = await anOwnToken(world, as.owner, { expires_at: '2026-03-02' })
    const second = await anOwnToken(world, as.owner, { name: 'b' })
    const revoked = await anOwnToken(world, as.owner)
    await anOwnToken(world, as.viewer)
    await revokeOwnToken(ports, as.owner, revoked.id)
    world.clock.now = '2026-03-03T00:00:00.000Z'
    const ids = async (query?: object) => (await listOwnTokens(ports, as.owner, query)).data.map(({ id }) => id)
    expect(await ids()).toEqual([second.id, first.id])
    expect(await ids({ order: '-name' })).toEqual([first.id, second.id])
    expect(await listOwnTokens(ports, as.owner, { limit: 1, offset: 1 })).toMatchObject({
      total: 2,
      data: [{ id: first.id }],
    })
    expect(await refusedPaths(listOwnTokens(ports, as.owner, { order: 'hash', limit: 1001 }))).toEqual([
      'limit',
      'order',
    ])
    const [listed] = (await listOwnTokens(ports, as.owner)).data
    expect(Object.keys(listed ?? {}).toSorted()).toEqual([
      'access',
      'created_at',
      'expires_at',
      'id',
      'last_used_at',
      'name',
      'organizations',
      'prefix',
    ])
  })

  test('are revoked by that person, at once and once', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const { id, token } = await anOwnToken(world, as.viewer)
    await expectRefused(world, 'not_found', () => revokeOwnToken(ports, as.owner, id))
    await expectRefused(world, 'not_found', () => revokeOwnToken(ports, as.viewer, 999))
    expect(await revokeOwnToken(ports, as.viewer, id)).toMatchObject({ id, name: 'laptop' })
    await expectRefused(world, 'unauthenticated', () => authenticate(ports, token))
    await expectRefused(world, 'not_found', () => revokeOwnToken(ports, as.viewer, id))
    expect(happened(world, 'token.revoked')).toMatchObject([{ record: String(id), user_id: as.viewer.user }])
  })
})

describe('rotating a token', () => {
  const works = (ports: World['ports'], token: string) =>
    authenticate(ports, token).then(
      ({ token: id }) => id,
      () => false,
    )

  test('gives it a new secret, and ends the old one at once', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const narrowing = { access: 'read', organizations: [organization] }
    const before = await anOwnToken(world, as.owner, { ...narrowing, expires_at: '2026-04-01' })
    const { token, ...after } = await rotateToken(ports, as.owner, before.id)
    expect(token).not.toBe(before.token)
    const { token: _token, caller: _caller, ...told } = before
    expect(after).toEqual({ ...told, prefix: token.slice(0, 10) })
    expect(await listOwnTokens(ports, as.owner)).toEqual({ total: 1, data: [after] })
    expect(await shown(ports, token)).toEqual(before.caller)
    expect(await works(ports, before.token)).toBe(false)
    expect(happened(world, 'token.rotated')).toMatchObject([{ record: String(before.id), user_id: as.owner.user }])
    expect(JSON.stringify(ports.published)).not.toMatch(/sms_[0-9A-Za-z]{7}/)
  })

  test('leaves the old secret valid for the overlap, to the moment', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const { id, token: old } = await anOwnToken(world, as.owner)
    const { token } = await rotateToken(ports, as.owner, id, { overlap_days: 1.5 })
    world.clock.now = '2026-03-02T23:59:59.999Z'
    expect([await works(ports, old), await works(ports, token)]).toEqual([id, id])
    world.clock.now = '2026-03-03T00:00:00.000Z'
    expect([await works(ports, old), await works(ports, token)]).toEqual([false, id])
  })

  test('makes neither secret outlive the token', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const { id, token: old } = await anOwnToken(world, as.owner, { expires_at: '2026-03-05' })
    const { token } = await rotateToken(ports, as.owner, id, { overlap_days: 30 })
    world.clock.now = '2026-03-04T23:59:59.999Z'
    expect([await works(ports, old), await works(ports, token)]).toEqual([id, id])
    world.clock.now = '2026-03-05T00:00:00.000Z'
    expect([await works(ports, old), await works(ports, token)]).toEqual([false, false])
    await expectRefused(world, 'conflict', () => rotateToken(ports, as.owner, id))
  })

  test('again drops the older secret at once', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const first = await anOwnToken(world, as.owner)
    const second = await rotateToken(ports, as.owner, first.id, { overlap_days: 30 })
    const third = await rotateToken(ports, as.owner, first.id, { overlap_days: 30 })
    const tokens = [first, second, third].map(({ token }) => works(ports, token))
    expect(await Promise.all(tokens)).toEqual([false, first.id, first.id])
    await revokeOwnToken(ports, as.owner, first.id)
    expect(await Promise.all([works(ports, second.token), works(ports, third.token)])).toEqual([false, false])
  })

  test('ten times at once leaves the last new secret, and of those before it the one that may overlap', async () => {
    for (const [overlap_days, left] of [
      [0, 1],
      [1, 2],
    ] as const) {
      const world = await aWorld()
      const { ports, as } = world
      const { id } = await anOwnToken(world, as.owner)
      const rotated = await Promise.all(
        Array.from({ length: 10 }, () => rotateToken(ports, as.owner, id, { overlap_days })),
      )
      const working = await Promise.all(rotated.map(({ token }) => works(ports, token)))
      expect(working.filter(Boolean)).toHaveLength(left)
      expect(happened(world, 'token.rotated')).toHaveLength(10)
    }
  })

  test('takes an overlap of 0 to 30 days', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const { id } = await anOwnToken(world, as.owner)
    for (const overlap_days of [-1, 30.1, '1', null, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(await refusedPaths(rotateToken(ports, as.owner, id, { overlap_days }))).toEqual(['overlap_days'])
    }
    for (const overlap_days of [0, 30]) await rotateToken(ports, as.owner, id, { overlap_days })
  })

  test('is for the person whose token it is, while it is not revoked', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const { id } = await anOwnToken(world, as.viewer)
    for (const attempt of [rotateToken, permitRotateToken]) {
      await expectRefused(world, 'not_found', () => attempt(ports, as.owner, id))
      await expectRefused(world, 'not_found', () => attempt(ports, as.owner, 999))
    }
    await expect(permitRotateToken(ports, as.viewer, id)).resolves.toBeUndefined()
    await revokeOwnToken(ports, as.viewer, id)
    await expectRefused(world, 'not_found', () => rotateToken(ports, as.viewer, id))
  })
})

describe('a narrowed token', () => {
  const NARROWINGS: [string, (organization: number) => object][] = [
    ['reading', () => ({ access: 'read' })],
    ['an organization', (organization) => ({ organizations: [organization] })],
  ]

  test.each(NARROWINGS)('to %s cannot widen itself, nor touch other tokens', async (_, narrowing) => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const other = await anOwnToken(world, as.owner)
    const { id, caller } = await anOwnToken(world, as.owner, narrowing(organization))
    await expectRefused(world, 'forbidden', () => issueOwnToken(ports, caller, { name: 'wide' }))
    await expectRefused(world, 'forbidden', () =>
      issueOwnToken(ports, caller, { name: 'same', ...narrowing(organization) }),
    )
    await expectRefused(world, 'forbidden', () => rotateToken(ports, caller, other.id))
    await expectRefused(world, 'forbidden', () => permitRotateToken(ports, caller, other.id))
    await expectRefused(world, 'forbidden', () => revokeOwnToken(ports, caller, other.id))
    await expectRefused(world, 'forbidden', () => createOrganization(ports, caller, { name: 'New' }))
    const rotated = await rotateToken(ports, caller, id)
    expect((await shown(ports, rotated.token)).narrowing).toEqual(caller.narrowing)
    expect(await revokeOwnToken(ports, caller, id)).toMatchObject({ id })
  })

  test('to reading lists all tokens of its person, one held to organizations itself alone', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const reading = await anOwnToken(world, as.owner, { access: 'read' })
    const held = await anOwnToken(world, as.owner, { organizations: [organization] })
    expect((await listOwnTokens(ports, reading.caller)).total).toBe(2)
    expect(await listOwnTokens(ports, held.caller)).toMatchObject({ total: 1, data: [{ id: held.id }] })
  })

  test('to reading marks no notification', async () => {
    const world = await aWorld()
    const { ports } = world
    const person = await aPerson(world)
    await createOrganization(ports, person, { name: 'One' })
    const { caller } = await anOwnToken(world, person, { access: 'read' })
    const [notification] = (await listNotifications(ports, caller)).data
    await expectRefused(world, 'forbidden', () => markNotificationRead(ports, caller, notification?.id ?? 0))
    await expectRefused(world, 'forbidden', () => markAllNotificationsRead(ports, caller))
    expect((await listNotifications(ports, caller, { read: false })).total).toBe(1)
  })

  test('to organizations sees these alone: in lists, in who one is, in notifications', async () => {
    const world = await aWorld()
    const { ports } = world
    const person = await aPerson(world)
    const one = await createOrganization(ports, person, { name: 'One' })
    const two = await createOrganization(ports, person, { name: 'Two' })
    const { caller } = await anOwnToken(world, person, { organizations: [one] })
    expect(await listOrganizations(ports, caller)).toMatchObject({ total: 1, data: [{ id: one }] })
    expect((await readMe(ports, caller)).organizations).toMatchObject([{ id: one }])
    const notified = await listNotifications(ports, caller)
    expect(notified).toMatchObject({ total: 1, data: [{ organization: { id: one } }] })
    expect((await listNotifications(ports, caller, { organization: two })).total).toBe(0)
    const [hidden] = (await listNotifications(ports, person, { organization: two })).data
    await expectRefused(world, 'not_found', () => markNotificationRead(ports, caller, hidden?.id ?? 0))
    expect(await markAllNotificationsRead(ports, caller)).toBe(1)
    expect((await listNotifications(ports, person, { read: false })).data).toEqual([hidden])
  })

  test('to reading finds no organization that it could edit', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const { caller } = await anOwnToken(world, as.owner, { access: 'read' })
    expect((await listOrganizations(ports, caller, { editable: true })).total).toBe(0)
    expect(await listOrganizations(ports, caller, { editable: false })).toMatchObject({ data: [{ id: organization }] })
    expect((await listOrganizations(ports, caller, { owned: true })).total).toBe(1)
  })

  test('to an organization that its person has left reaches nothing', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const { caller } = await anOwnToken(world, as.viewer, { organizations: [organization] })
    await removeMember(ports, as.owner, { organization, user: as.viewer.user })
    expect((await listOrganizations(ports, caller)).total).toBe(0)
    expect((await readMe(ports, caller)).organizations).toEqual([])
  })
})
