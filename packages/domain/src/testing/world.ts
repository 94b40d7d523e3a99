import { test as declare, expect } from 'vitest'
import type { Caller } from '../access/caller.ts'
import { type Action, mayPerform, ROLES, type Role } from '../access/policy.ts'
import { NO_ID, storeMember, storeOrganization, storeUser } from '../contracts/builders.ts'
import type { ErrorCode } from '../errors.ts'
import type { DomainEvent, EventType } from '../events.ts'
import { type MemoryPorts, memoryPorts } from '../memory/index.ts'
import type { Notification } from '../notifications/notification.ts'
import { removeOrganization } from '../organizations/remove-organization.ts'

/** Every kind of caller around one organization, in memory, with a clock that the test sets. */
export type World = {
  ports: MemoryPorts
  clock: { now: string }
  organization: number
  /** A member of each role. */
  as: Record<Role, Caller>
  /** A registered person who belongs to another organization. */
  stranger: Caller
  /** Somebody who was an owner of the organization. */
  formerOwner: Caller
}

export const NOON = '2026-03-01T12:00:00.000Z'

export async function aWorld(): Promise<World> {
  const clock = { now: NOON }
  const ports = memoryPorts({ now: () => new Date(clock.now) })
  const organization = await storeOrganization(ports, { name: 'Acme' })
  const member = async (role: Role) => ({ user: (await storeMember(ports, organization, role)).id })
  const as = {
    viewer: await member('viewer'),
    security_officer: await member('security_officer'),
    owner: await member('owner'),
  }
  const stranger = { user: (await storeMember(ports, await storeOrganization(ports, { name: 'Other' }))).id }
  const formerOwner = await member('owner')
  await ports.transact(({ members }) => members.remove(organization, formerOwner.user, NOON))
  return { ports, clock, organization, as, stranger, formerOwner }
}

/** A registered person who belongs to nothing. */
export async function aPerson({ ports }: Pick<World, 'ports'>, email?: string): Promise<Caller> {
  return { user: (await storeUser(ports, email === undefined ? {} : { email, username: email })).id }
}

/** Expects the domain's own error, and that the attempt left no trace. */
export async function expectRefused(world: Pick<World, 'ports'>, code: ErrorCode, attempt: () => Promise<unknown>) {
  const before = world.ports.published.length
  await expect(attempt()).rejects.toMatchObject({ name: 'DomainError', code })
  expect(world.ports.published.slice(before)).toEqual([])
}

/** The paths of an input that are refused. */
export async function refusedPaths(attempt: Promise<unknown>): Promise<string[]> {
  const error: unknown = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ name: 'DomainError', code: 'invalid' })
  return (error as { details: { path: string }[] }).details.map(({ path }) => path)
}

/** What was published of these types, with the parts that tell what happened. */
export function happened({ ports }: Pick<World, 'ports'>, ...types: EventType[]): DomainEvent[] {
  return ports.published.filter(({ type }) => types.length === 0 || types.includes(type))
}

/** Titles of the caller's notifications, newest first. */
export async function notified({ ports }: Pick<World, 'ports'>, caller: Caller): Promise<Notification[]> {
  return (await ports.notifications.listOf(caller.user, {}, { limit: 1000, offset: 0, order: '-id' })).data
}

/**
 * Declares the tests that every use case on an organization has: each role, a stranger, a former member, a removed
 * organization, and what does not exist.
 *
 * @param arrange makes what is acted on and returns its name.
 * @param missing names something of the kind that does not exist.
 */
export function asksFor<Target>(
  action: Action,
  arrange: (world: World) => Promise<Target>,
  act: (world: World, caller: Caller, target: Target) => Promise<unknown>,
  missing: (world: World) => Target,
): void {
  declare.each(ROLES)(`whether a %s may is what the policy says of ${action}`, async (role) => {
    const world = await aWorld()
    const target = await arrange(world)
    const attempt = () => act(world, world.as[role], target)
    if (mayPerform(role, action)) await expect(attempt()).resolves.toBeDefined()
    else await expectRefused(world, 'forbidden', attempt)
  })

  declare('a stranger and a former member are refused', async () => {
    const world = await aWorld()
    const target = await arrange(world)
    await expectRefused(world, 'forbidden', () => act(world, world.stranger, target))
    await expectRefused(world, 'forbidden', () => act(world, world.formerOwner, target))
  })

  declare('nothing is found in a removed organization', async () => {
    const world = await aWorld()
    const target = await arrange(world)
    await removeOrganization(world.ports, world.as.owner, world.organization)
    await expectRefused(world, 'not_found', () => act(world, world.as.owner, target))
    await expectRefused(world, 'not_found', () => act(world, world.stranger, target))
  })

  declare('what does not exist is not found, whoever asks', async () => {
    const world = await aWorld()
    await expectRefused(world, 'not_found', () => act(world, world.as.owner, missing(world)))
    await expectRefused(world, 'not_found', () => act(world, world.stranger, missing(world)))
  })
}

/** For use cases whose target is the organization itself. */
export function asksForOnOrganization(
  action: Action,
  act: (world: World, caller: Caller, organization: number) => Promise<unknown>,
): void {
  asksFor(
    action,
    async ({ organization }) => organization,
    act,
    () => NO_ID,
  )
}
