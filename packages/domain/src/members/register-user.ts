import { type Actor, OPERATOR } from '../access/caller.ts'
import { conflict } from '../errors.ts'
import { creationOf, record } from '../events.ts'
import { parse } from '../parse.ts'
import type { Needs, Stores } from '../ports.ts'
import { NewUser, type User } from './user.ts'

/**
 * Registers a person at the operator's word.
 *
 * @param input see `NewUser`; only `email` is required.
 * @throws DomainError `invalid`, `conflict` (the address is registered).
 */
export async function registerUser(ports: Needs<'transact' | 'now' | 'newUuid'>, input: unknown): Promise<User> {
  const wanted = parse(NewUser, input)
  return ports.transact(async (stores) => {
    const user = await register(ports, stores, OPERATOR, wanted)
    if (!user) throw conflict('email', 'This address is already registered')
    return user
  })
}

/** Registers a person inside a running transaction; undefined if the address is taken. */
export async function register(
  ports: Needs<'now' | 'newUuid'>,
  stores: Stores,
  actor: Actor,
  wanted: NewUser,
): Promise<User | undefined> {
  const user: User = { ...wanted, id: ports.newUuid(), username: wanted.username ?? wanted.email }
  if (!(await stores.users.insert(user))) return undefined
  await record(ports, stores, actor, {
    type: 'user.registered',
    record: user.id,
    changes: creationOf(user),
    details: { email: user.email },
  })
  return user
}
