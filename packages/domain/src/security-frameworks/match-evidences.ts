import type { Needs } from '../ports.ts'
import type { Evidence, SentEvidence } from './security-framework.ts'

/** Evidence entries, and files of them, that are compared in one turn of the event loop: some milliseconds. */
const PART = 1000

/** Says after how much work a turn of the event loop is to pass, over all controls. */
export type Pace = { isDue(work: number): boolean; rest(): Promise<void> }

export function createPace(ports: Needs<'nextTurn'>): Pace {
  let done = 0
  return {
    isDue(work) {
      done += work
      return done >= PART
    },
    rest() {
      done = 0
      return ports.nextTurn()
    },
  }
}

/** A sent entry, and what it says of its stamp. */
type Claim = { index: number; datetime: string | undefined; user: string | undefined }

/** A stored entry, and the sent one that it is. */
type Entry = {
  evidence: Evidence
  claim?: Claim
  /** Where the claim asked for it, if it named but one part of the stamp. */
  holder?: Place
  time?: Place
  user?: Place
}

/** The entries of one time, or of one person, in their order. */
type Place = {
  entries: Entry[]
  /** Those before this one are taken, and stay so. */
  next: number
  /** No entry can be had here any more, not even in exchange for another. */
  isEmpty: boolean
}

/** What has the same content. */
type Group = { entries: Entry[]; claims: Claim[] }

/**
 * Finds for each sent entry the stored one that it is: one that has its content and does not contradict its stamp. Each
 * stored entry is one sent one at the most, and as many are found as can be. What names more of its stamp chooses first;
 * among those that fit equally, the oldest is taken.
 *
 * @returns stored entries by the index of the sent one.
 */
export async function matchEvidences(
  pace: Pace,
  stored: readonly Evidence[],
  sent: readonly SentEvidence[],
): Promise<Map<number, Evidence>> {
  const groups = new Map<string, Group>()
  for (const evidence of stored) {
    if (pace.isDue(1 + evidence.files.length)) await pace.rest()
    const content = contentOf(evidence)
    const group = groups.get(content)
    if (group) group.entries.push({ evidence })
    else groups.set(content, { entries: [{ evidence }], claims: [] })
  }
  for (const [index, evidence] of sent.entries()) {
    if (pace.isDue(1 + evidence.files.length)) await pace.rest()
    if (groups.size === 0) continue
    const { datetime, submitted_by } = evidence
    groups.get(contentOf(evidence))?.claims.push({ index, datetime, user: submitted_by?.user_id })
  }
  const found = new Map<number, Evidence>()
  for (const group of groups.values()) {
    giveByWholeStamp(group)
    await giveByPart(pace, group)
    giveRest(group)
    for (const { claim, evidence } of group.entries) if (claim) found.set(claim.index, evidence)
  }
  return found
}

function contentOf({ files, details, completed, residual_risk }: Evidence | SentEvidence): string {
  return JSON.stringify([files, details, completed, residual_risk])
}

function giveByWholeStamp({ entries, claims }: Group): void {
  const whole = claims.filter(({ datetime, user }) => datetime !== undefined && user !== undefined)
  if (whole.length === 0) return
  const byStamp = new Map<string, Entry[]>()
  for (const entry of entries.toReversed()) {
    const { datetime, submitted_by } = entry.evidence
    add(byStamp, JSON.stringify([datetime, submitted_by.user_id]), entry)
  }
  for (const claim of whole) {
    const entry = byStamp.get(JSON.stringify([claim.datetime, claim.user]))?.pop()
    if (entry) entry.claim = claim
  }
}

function giveRest({ entries, claims }: Group): void {
  const free = entries.filter(({ claim }) => !claim).values()
  for (const claim of claims) {
    if (claim.datetime !== undefined || claim.user !== undefined) continue
    const { value: entry } = free.next()
    if (!entry) return
    entry.claim = claim
  }
}

/** Gives to those that name a time or a person alone, so that none takes what another needs while it could have else. */
async function giveByPart(pace: Pace, { entries, claims }: Group): Promise<void> {
  const parts = claims.filter(({ datetime, user }) => (datetime === undefined) !== (user === undefined))
  if (parts.length === 0) return
  const times = new Map<string, Place>()
  const users = new Map<string, Place>()
  for (const entry of entries) {
    if (entry.claim) continue
    entry.time = placeOf(times, entry.evidence.datetime)
    entry.user = placeOf(users, entry.evidence.submitted_by.user_id)
    entry.time.entries.push(entry)
    entry.user.entries.push(entry)
  }
  for (const claim of parts) {
    const place = claim.datetime === undefined ? users.get(claim.user ?? '') : times.get(claim.datetime)
    if (place && !place.isEmpty && pace.isDue(give(place, claim))) await pace.rest()
  }
}

/**
 * Gives the claim an entry of the place: a free one, or one whose claim can have another in exchange, that one's claim
 * another again, and so on (an augmenting path, the shortest one first).
 *
 * @returns how many entries were looked at.
 */
function give(place: Place, claim: Claim): number {
  /** Places where a claim could be moved, and the entry there that it would leave. */
  const left = new Map<Place, Entry | undefined>([[place, undefined]])
  let seen = 0
  // More are added on the way.
  for (const at of left.keys()) {
    const free = firstFree(at)
    if (free) {
      exchange(left, at, free, claim)
      return seen
    }
    for (const entry of at.entries) {
      const { holder } = entry
      if (holder && !holder.isEmpty && !left.has(holder)) left.set(holder, entry)
    }
    seen += at.entries.length
  }
  for (const at of left.keys()) at.isEmpty = true
  return seen
}

function firstFree(place: Place): Entry | undefined {
  while (place.entries[place.next]?.claim) place.next += 1
  return place.entries[place.next]
}

/** Moves the claims along the way back from `at`, where `free` is, each to the entry that the one before it has left. */
function exchange(left: Map<Place, Entry | undefined>, at: Place, free: Entry, claim: Claim): void {
  let place = at
  let entry = free
  for (let from = left.get(place); from?.claim; from = left.get(place)) {
    entry.claim = from.claim
    entry.holder = place
    entry = from
    place = (from.time === place ? from.user : from.time) ?? place
  }
  entry.claim = claim
  entry.holder = place
}

function placeOf(places: Map<string, Place>, name: string): Place {
  const place = places.get(name) ?? { entries: [], next: 0, isEmpty: false }
  places.set(name, place)
  return place
}

function add<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key)
  if (list) list.push(item)
  else lists.set(key, [item])
}
