import { describe, expect, test } from 'vitest'
import type { DomainEvent } from '../events.ts'
import { issueOwnToken, MAX_LIVE_TOKENS } from '../tokens/issue-own-token.ts'
import { rotateToken } from '../tokens/rotate-token.ts'
import { TOKEN_ORDER } from '../tokens/token-store.ts'
import { aSha256, aToken, NO_ID, ODD_TEXT, storeUser } from './builders.ts'
import { NOW, type Open, openOnce } from './opened.ts'
import { all, expectOrderAndPages, expectRolledBack, fulfilled, TEXTS_TO_SORT, tenAtOnce } from './paging.ts'

const LATER = '2026-03-01T12:01:00.000Z'

/** The suite that every adapter of `TokenStore` must pass. `open` gives empty stores, new at every call. */
export function tokenStoreContract(adapter: string, open: Open): void {
  describe(`TokenStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function store(part: Parameters<typeof aToken>[0]): Promise<number> {
      return opened.ports.transact(({ tokens }) => tokens.insert(aToken(part)))
    }
    async function rotate(id: number, hash: string, overlapUntil: string | null, prefix = 'sms_ZyXwVu') {
      return opened.ports.transact(({ tokens }) => tokens.rotate(id, { hash, prefix }, overlapUntil))
    }
    async function touch(id: number, at: string, since = '2000-01-01T00:00:00.000Z') {
      return opened.ports.transact(({ tokens }) => tokens.touch(id, at, since))
    }
    async function tokensOf(user: string) {
      return (await opened.ports.tokens.list()).filter((token) => token.user_id === user)
    }

    test('every field comes back as it was stored, and the hash never', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const narrowing = { access: 'read', organizations: [3, 1, Number.MAX_SAFE_INTEGER] } as const
      const part = { user_id, name: ODD_TEXT, expires_at: '2027-01-01T00:00:00.000Z' }
      const { hash, ...shown } = aToken({ ...part, access: 'read', organizations: [...narrowing.organizations] })
      const id = await store({ ...shown, hash })
      expect(id).toBeGreaterThanOrEqual(1)
      const stored = { id, ...shown, last_used_at: null, revoked_at: null }
      expect(await tokensOf(user_id)).toEqual([stored])
      expect(await opened.ports.tokens.find(id)).toEqual(stored)
      expect(await opened.ports.tokens.listOf(user_id, all('id'))).toEqual({ total: 1, data: [stored] })
      const { expires_at } = shown
      const found = { id, user_id, expires_at, last_used_at: null, ...narrowing }
      expect(await opened.ports.tokens.findByHash(hash)).toEqual(found)
    })

    test('a token that is not narrowed says so', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const hash = aSha256()
      await store({ user_id, hash })
      expect(await opened.ports.tokens.findByHash(hash)).toMatchObject({ access: 'full', organizations: null })
    })

    test('a token without expiry has none, and an expired one is still found', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const [forever, expired] = [aSha256(), aSha256()]
      await store({ user_id, hash: forever })
      await store({ user_id, hash: expired, expires_at: '2020-01-01T00:00:00.000Z' })
      expect((await opened.ports.tokens.findByHash(forever))?.expires_at).toBeNull()
      expect((await opened.ports.tokens.findByHash(expired))?.expires_at).toBe('2020-01-01T00:00:00.000Z')
    })

    test('a hash that no token has finds nothing', async () => {
      expect(await opened.ports.tokens.findByHash(aSha256())).toBeUndefined()
      expect(await opened.ports.tokens.findByHash('')).toBeUndefined()
    })

    test('tokens are listed oldest first, revoked ones included', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const ids = [await store({ user_id }), await store({ user_id }), await store({ user_id })]
      await opened.ports.transact(({ tokens }) => tokens.revoke(ids[1] ?? 0, NOW))
      const listed = await tokensOf(user_id)
      expect(listed.map(({ id, revoked_at }) => [id, revoked_at])).toEqual([
        [ids[0], null],
        [ids[1], NOW],
        [ids[2], null],
      ])
    })

    test('a revoked token is found no more, and is revoked once', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const hash = aSha256()
      const id = await store({ user_id, hash })
      expect(await opened.ports.transact(({ tokens }) => tokens.revoke(id, NOW))).toBe(true)
      expect(await opened.ports.tokens.findByHash(hash)).toBeUndefined()
      expect(await opened.ports.transact(({ tokens }) => tokens.revoke(id, NOW))).toBe(false)
      expect(await opened.ports.transact(({ tokens }) => tokens.revoke(NO_ID, NOW))).toBe(false)
    })

    test('the last use is noted', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const hash = aSha256()
      const id = await store({ user_id, hash })
      expect(await touch(id, NOW)).toBe(true)
      expect((await opened.ports.tokens.findByHash(hash))?.last_used_at).toBe(NOW)
      expect(await tokensOf(user_id)).toMatchObject([{ id, last_used_at: NOW }])
      expect(await touch(NO_ID, NOW)).toBe(false)
    })

    test('a use is not noted where one after the given time is', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const id = await store({ user_id })
      await touch(id, NOW)
      expect(await touch(id, LATER, '2026-03-01T11:59:59.999Z')).toBe(false)
      expect(await tokensOf(user_id)).toMatchObject([{ last_used_at: NOW }])
      expect(await touch(id, LATER, NOW)).toBe(true)
      expect(await tokensOf(user_id)).toMatchObject([{ last_used_at: LATER }])
    })

    test('of ten notes of a use at once exactly one is written', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const id = await store({ user_id })
      const results = await tenAtOnce(() => touch(id, NOW, '2026-03-01T11:59:00.000Z'))
      expect(fulfilled(results).filter(Boolean)).toHaveLength(1)
      expect(fulfilled(results)).toHaveLength(10)
    })

    test('a person lists what is theirs and not revoked, expired ones included, by every field and in pages', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const { id: other } = await storeUser(opened.ports)
      await store({ user_id: other })
      const rows: { id: number; name: string; created_at: string }[] = []
      for (const [index, name] of TEXTS_TO_SORT.entries()) {
        const created_at = `2026-01-0${1 + (index % 3)}T00:00:00.000Z`
        const expires_at = index === 2 ? '2026-01-01T00:00:00.000Z' : null
        rows.push({ id: await store({ user_id, name, created_at, expires_at }), name, created_at })
      }
      const revoked = await store({ user_id })
      await opened.ports.transact(({ tokens }) => tokens.revoke(revoked, NOW))
      const list = opened.ports.tokens.listOf
      await expectOrderAndPages(
        TOKEN_ORDER,
        rows,
        (page) => list(user_id, page),
        ({ id }) => id,
      )
      const [first] = rows
      expect(await list(user_id, all('id'), first?.id)).toMatchObject({ total: 1, data: [first] })
      for (const only of [revoked, NO_ID]) expect(await list(user_id, all('id'), only)).toEqual({ total: 0, data: [] })
      expect(await list(other, all('id'), first?.id)).toEqual({ total: 0, data: [] })
    })

    test('live tokens are counted: neither revoked nor expired, of one person', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const { id: other } = await storeUser(opened.ports)
      const count = () => opened.ports.tokens.countLive(user_id, NOW)
      expect(await count()).toBe(0)
      await store({ user_id: other })
      const id = await store({ user_id })
      await store({ user_id, expires_at: LATER })
      await store({ user_id, expires_at: NOW })
      expect(await count()).toBe(2)
      await opened.ports.transact(({ tokens }) => tokens.revoke(id, NOW))
      expect(await count()).toBe(1)
    })

    test('a rotated token is found by its new secret, and by the one before until the overlap ends', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const [first, second, third, fourth] = [aSha256(), aSha256(), aSha256(), aSha256()]
      const expires_at = '2027-01-01T00:00:00.000Z'
      const id = await store({ user_id, hash: first, expires_at, access: 'read', organizations: [5] })
      const narrowing = { access: 'read', organizations: [5] }
      const { findByHash } = opened.ports.tokens
      expect(await rotate(id, second, LATER)).toBe(true)
      expect(await findByHash(second)).toMatchObject({ id, user_id, expires_at, ...narrowing })
      expect(await findByHash(first)).toMatchObject({ id, user_id, expires_at: LATER, ...narrowing })
      expect(await tokensOf(user_id)).toMatchObject([{ id, prefix: 'sms_ZyXwVu', expires_at, last_used_at: null }])
      await rotate(id, third, LATER)
      expect(await findByHash(first)).toBeUndefined()
      expect(await findByHash(second)).toMatchObject({ expires_at: LATER })
      await rotate(id, fourth, null)
      expect(await findByHash(second)).toBeUndefined()
      expect(await findByHash(third)).toBeUndefined()
      expect(await findByHash(fourth)).toMatchObject({ expires_at })
    })

    test('a revoked token is found by none of its secrets, and is not rotated', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const [first, second] = [aSha256(), aSha256()]
      const id = await store({ user_id, hash: first })
      await rotate(id, second, LATER)
      await opened.ports.transact(({ tokens }) => tokens.revoke(id, NOW))
      expect(await opened.ports.tokens.findByHash(first)).toBeUndefined()
      expect(await opened.ports.tokens.findByHash(second)).toBeUndefined()
      expect(await opened.ports.tokens.find(id)).toBeUndefined()
      expect(await rotate(id, aSha256(), LATER)).toBe(false)
      expect(await rotate(NO_ID, aSha256(), LATER)).toBe(false)
      expect(await opened.ports.tokens.find(NO_ID)).toBeUndefined()
    })

    test('after ten rotations at once the token has two secrets: the newest, and the one before', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const id = await store({ user_id, hash: aSha256() })
      const hashes = Array.from({ length: 10 }, () => aSha256())
      const results = await tenAtOnce((index) => rotate(id, hashes[index] ?? '', LATER))
      expect(fulfilled(results)).toEqual(Array(10).fill(true))
      const found = await Promise.all(hashes.map((hash) => opened.ports.tokens.findByHash(hash)))
      const working = found.filter((token) => token !== undefined).map(({ expires_at }) => expires_at)
      expect(working.toSorted()).toEqual([LATER, null].toSorted())
    })

    test('ten rotations at once come one after the other: each starts from what another left', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const id = await store({ user_id })
      const events: DomainEvent[] = []
      const listen = (event: DomainEvent) => void events.push(event)
      opened.ports.bus.on('event', listen)
      const results = fulfilled(await tenAtOnce(() => rotateToken(opened.ports, { user: user_id }, id)))
      opened.ports.bus.off('event', listen)
      expect(new Set(results.map(({ token }) => token)).size).toBe(10)
      const starts = events.flatMap(({ type, changes }) => (type === 'token.rotated' ? [changes.prefix?.[0]] : []))
      const prefixes = ['sms_AbCdEf', ...results.map(({ prefix }) => prefix)]
      expect(new Set(starts).size).toBe(10)
      expect(prefixes).toEqual(expect.arrayContaining(starts))
    })

    test('of ten tokens that a person issues at once none is past the cap', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      await opened.ports.transact(async ({ tokens }) => {
        for (let count = 3; count < MAX_LIVE_TOKENS; count += 1) await tokens.insert(aToken({ user_id }))
      })
      const results = await tenAtOnce(() => issueOwnToken(opened.ports, { user: user_id }, { name: 'x' }))
      expect(fulfilled(results)).toHaveLength(3)
      expect(await opened.ports.tokens.countLive(user_id, NOW)).toBe(MAX_LIVE_TOKENS)
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const id = await store({ user_id })
      await expectRolledBack(
        opened.ports,
        async ({ tokens }) => {
          await tokens.insert(aToken({ user_id }))
          await tokens.touch(id, NOW, NOW)
          await tokens.rotate(id, { hash: aSha256(), prefix: 'sms_ZyXwVu' }, LATER)
          await tokens.revoke(id, NOW)
        },
        () => tokensOf(user_id),
      )
    })

    test('ten revocations at once: exactly one wins', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const id = await store({ user_id })
      const results = await tenAtOnce(() => opened.ports.transact(({ tokens }) => tokens.revoke(id, NOW)))
      expect(fulfilled(results).filter(Boolean)).toHaveLength(1)
      expect(fulfilled(results)).toHaveLength(10)
    })
  })
}
