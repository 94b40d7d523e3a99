import { describe, expect, test } from 'vitest'
import { aSha256, aToken, NO_ID, ODD_TEXT, storeUser } from './builders.ts'
import { NOW, type Open, openOnce } from './opened.ts'
import { expectRolledBack, fulfilled, tenAtOnce } from './paging.ts'

export function tokenStoreContract(adapter: string, open: Open): void {
  describe(`TokenStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function store(part: Parameters<typeof aToken>[0]): Promise<number> {
      return opened.ports.transact(({ tokens }) => tokens.insert(aToken(part)))
    }
    async function tokensOf(user: string) {
      return (await opened.ports.tokens.list()).filter((token) => token.user_id === user)
    }

    test('every field comes back as it was stored, and the hash never', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const { hash, ...shown } = aToken({ user_id, name: ODD_TEXT, expires_at: '2027-01-01T00:00:00.000Z' })
      const id = await store({ ...shown, hash })
      expect(id).toBeGreaterThanOrEqual(1)
      expect(await tokensOf(user_id)).toEqual([{ id, ...shown, last_used_at: null, revoked_at: null }])
      const { expires_at } = shown
      expect(await opened.ports.tokens.findByHash(hash)).toEqual({ id, user_id, expires_at, last_used_at: null })
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
      await opened.ports.transact(({ tokens }) => tokens.touch(id, NOW))
      expect((await opened.ports.tokens.findByHash(hash))?.last_used_at).toBe(NOW)
      expect(await tokensOf(user_id)).toMatchObject([{ id, last_used_at: NOW }])
      await opened.ports.transact(({ tokens }) => tokens.touch(NO_ID, NOW))
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const { id: user_id } = await storeUser(opened.ports)
      const id = await store({ user_id })
      await expectRolledBack(
        opened.ports,
        async ({ tokens }) => {
          await tokens.insert(aToken({ user_id }))
          await tokens.touch(id, NOW)
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
