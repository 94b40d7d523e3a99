import mitt, { type Emitter } from 'mitt'
import type { Actor } from './access/caller.ts'
import { OPERATOR } from './access/caller.ts'
import type { ChainHead, ChainRow } from './audit/chain.ts'
import { jsonInParts } from './json-text.ts'
import { noticeOf } from './notifications/notices.ts'
import type { Page, PageRequest } from './page.ts'
import type { Needs, Stores } from './ports.ts'

/** Everything that can change: the kind of record, and what happened to it in the past tense. */
export const EVENT_TYPES = [
  'user.registered',
  'token.issued',
  'token.rotated',
  'token.revoked',
  'organization.created',
  'organization.edited',
  'organization.removed',
  'organization.restored',
  'organization.purged',
  'member.added',
  'member.role_changed',
  'member.removed',
  'member.restored',
  'member.purged',
  'invitation.renewed',
  'invitation.accepted',
  'invitation.undeliverable',
  'threat_blocker.created',
  'threat_blocker.edited',
  'threat_blocker.removed',
  'threat_blocker.restored',
  'threat_blocker.purged',
  'traffic.uploaded',
  'traffic.found_later',
  'threat_feed.added',
  'threat_feed.refreshed',
  'threat_feed.refresh_failed',
  'threat_feed.removed',
  'cloud_defense.imported',
  'vpn_profile.created',
  'vpn_profile.removed',
  'vpn_profile.restored',
  'vpn_profile.purged',
  'security_framework.created',
  'security_framework.edited',
  'security_framework.removed',
  'security_framework.restored',
  'security_framework.purged',
  'evidence.attached',
  'evidence.due',
  'assessment.imported',
  'notification.read',
  'notification.all_read',
  'installation.purged',
] as const
/** One of `EVENT_TYPES`: the kind of record, and what happened to it. */
export type EventType = (typeof EVENT_TYPES)[number]

/** What changed: field to its old and new value; undefined where there was or is none. Never a secret. */
export type Changes = { [field: string]: [before: unknown, after: unknown] }

/** What a use case says happened. */
export type Happening = {
  type: EventType
  /** The organization it happened in, if any. */
  organization?: number
  /** Id of the record it happened to. */
  record: number | string
  changes?: Changes
  /** What a reader of the audit trail or of a notification needs beside the changes. */
  details?: { [key: string]: string | number }
}

/** A happening with its author and time: one row of the audit trail. */
export type DomainEvent = Required<Omit<Happening, 'organization' | 'record'>> & {
  organization: number | null
  record: string
  /** The person who did it; null for the operator at the command line and for the service itself. */
  user_id: string | null
  /** Id of the token it was done with, if any. */
  token: number | null
  /** Id of the request it was done with; null for the operator and the service itself. */
  request_id: string | null
  /** ISO 8601, UTC. */
  datetime: string
}

/** Fields that events can be ordered by; `id` is the position in the chain. */
export const EVENT_ORDER = ['id', 'datetime'] as const

/** Which events to list; every part given must hold. */
export type EventFilter = {
  /** Who did it (UUID). */
  user?: string | undefined
  /** Of these types alone. */
  types?: readonly EventType[] | undefined
  record?: string | undefined
  /** At or after this time, and at or before that one (ISO). */
  from?: string | undefined
  to?: string | undefined
}

/** An event with its place in the chain, and the name of who did it where they are registered. */
export type ChainedEvent = DomainEvent & { position: number; hash: string; username: string | null }

/**
 * The audit trail: one chain of rows for the whole installation, see `audit/chain.ts`. Rows are appended in the
 * transaction of the change they tell of, and never edited.
 */
export type EventStore = {
  /** The row gets its place when the unit of work ends; a unit that fails takes none. */
  append(event: DomainEvent): Promise<void>
  /** Events of one organization. */
  listOf(
    organization: number,
    filter: EventFilter,
    page: PageRequest<(typeof EVENT_ORDER)[number]>,
  ): Promise<Page<ChainedEvent>>
  /**
   * The rows after `position`, as they are stored, in their order: `limit` of them, or fewer at the end, or where they
   * would have more than `bytes` (`CHAIN_BYTES`) together. None only where there are none.
   */
  readChain(position: number, limit: number, bytes?: number): Promise<ChainRow[]>
  /** Position of the first row of this time (ISO) or later; undefined if there is none. */
  firstSince(datetime: string): Promise<number | undefined>
  /** Where the chain ends, as noted beside the rows; undefined if that note is lost. */
  head(): Promise<ChainHead | undefined>
}

/**
 * Writes what happened into the running transaction: the row of the audit trail and the notifications it causes, so
 * that they commit or roll back with the change.
 */
export async function record(
  ports: Needs<'now'>,
  stores: Pick<Stores, 'events' | 'notifications' | 'members'>,
  actor: Actor,
  happening: Happening,
): Promise<void> {
  const event: DomainEvent = {
    type: happening.type,
    organization: happening.organization ?? null,
    record: String(happening.record),
    user_id: actor === OPERATOR ? null : actor.user,
    token: actor === OPERATOR ? null : (actor.token ?? null),
    request_id: actor === OPERATOR ? null : (actor.request ?? null),
    datetime: ports.now().toISOString(),
    changes: happening.changes ?? {},
    details: happening.details ?? {},
  }
  await stores.events.append(event)
  const notice = noticeOf(event)
  if (!notice || event.organization === null) return
  const everybody =
    'person' in notice.to ? [notice.to.person] : await stores.members.withRoles(event.organization, notice.to.roles)
  const people = everybody.filter((user) => 'person' in notice.to || user !== event.user_id)
  const { to: _, ...content } = notice
  await stores.notifications.insert(people, { ...content, organization: event.organization, datetime: event.datetime })
}

/** The fields in which two states of a record differ; undefined for one that is only in the other state. */
export function changesBetween(before: object, after: object): Changes {
  return changesBut(before, after, (_, old, value) => JSON.stringify(old ?? null) === JSON.stringify(value ?? null))
}

/** Characters of small fields that are compared in one turn of the event loop. */
const COMPARED = 128 * 1024

/**
 * The same for records that may be large: a part of a field at a time, with a turn of the event loop between.
 *
 * @param onPiece is told the JSON text of each field of `after`, piece by piece; what it throws ends the comparison.
 */
export async function changesInParts(
  ports: Needs<'nextTurn'>,
  before: object,
  after: object,
  onPiece?: (field: string, piece: string) => void,
): Promise<Changes> {
  const old = new Map<string, unknown>(Object.entries(before))
  const same = new Set<string>()
  let compared = 0
  for (const [field, value] of Object.entries(after)) {
    const was = old.get(field) ?? null
    const isCompared = was !== null && (value ?? null) !== null
    if (!isCompared && was === (value ?? null)) same.add(field)
    if (!isCompared && !onPiece) continue
    const text = await jsonInParts(ports, value, (piece) => onPiece?.(field, piece))
    if (isCompared && text === (await jsonInParts(ports, was))) same.add(field)
    compared += text.length
    if (compared < COMPARED) continue
    await ports.nextTurn()
    compared = 0
  }
  return changesBut(before, after, (field) => same.has(field))
}

/** The changes of all fields that are not the same. */
function changesBut(
  before: object,
  after: object,
  isSame: (field: string, old: unknown, value: unknown) => boolean,
): Changes {
  const old = new Map<string, unknown>(Object.entries(before))
  const changed = new Map<string, [unknown, unknown]>()
  for (const [field, value] of Object.entries(after)) {
    if (!isSame(field, old.get(field), value)) changed.set(field, [old.get(field), value])
    old.delete(field)
  }
  for (const [field, value] of old) if ((value ?? null) !== null) changed.set(field, [value, undefined])
  return Object.fromEntries(changed)
}

/** The changes that make a record: all of its fields, from nothing. Its id and organization are the event's own. */
export function creationOf(record: object): Changes {
  return changesBetween({}, fieldsOf(record))
}

/** The changes that a removal makes: all of the record's fields, to nothing. */
export function removalOf(record: object): Changes {
  return changesBetween(fieldsOf(record), {})
}

function fieldsOf(record: { id?: unknown; organization?: unknown }): object {
  const { id: _, organization: __, ...fields } = record
  return fields
}

/** Committed events, for who wants to be woken by them. Nothing that must not be lost may live in a listener. */
export type EventBus = Emitter<{ event: DomainEvent }>

/** A bus that nobody listens to yet. */
export function createEventBus(): EventBus {
  return mitt<{ event: DomainEvent }>()
}

/**
 * Calls `handler` with every committed event of these types. mitt runs handlers inside the publisher and ignores their
 * promises, so both are kept apart from it here; what a handler throws goes to `onError`.
 *
 * @returns a function that ends the subscription.
 */
export function subscribe(
  bus: EventBus,
  types: readonly EventType[],
  handler: (event: DomainEvent) => unknown,
  onError: (error: unknown) => void,
): () => void {
  const listener = (event: DomainEvent) => {
    if (types.includes(event.type)) void Promise.resolve(event).then(handler).catch(onError)
  }
  bus.on('event', listener)
  return () => bus.off('event', listener)
}
