import {
  CHAIN_BYTES,
  type ChainHead,
  type ChainRow,
  chainEvents,
  EMPTY_CHAIN,
  rowsThatFit,
  serialize,
} from '../audit/chain.ts'
import type { ChainedEvent, DomainEvent, EventStore } from '../events.ts'
import { bytesOf, pageOf } from './page-of.ts'
import type { State } from './state.ts'
import { systemSurroundings } from './surroundings.ts'

const surroundings = systemSurroundings()

export function memoryEvents(state: State): EventStore {
  const head = (): ChainHead => [...state.events.values()].at(-1) ?? EMPTY_CHAIN
  return {
    // Units of work run one at a time here, on a copy, so that the place is known at once.
    async append(event) {
      const serialized = await serialize(surroundings, event)
      const { rows } = chainEvents(surroundings.newSha256, head(), [serialized])
      for (const row of rows) state.events.set(row.position, row)
    },

    async listOf(organization, { user, types, record, from, to }, page) {
      const rows = [...state.events.values()]
        .filter((row) => row.organization === organization)
        .filter((row) => user === undefined || row.user_id === user)
        .filter((row) => types === undefined || types.includes(row.type))
        .filter((row) => record === undefined || row.record === record)
        .filter((row) => from === undefined || row.datetime >= from)
        .filter((row) => to === undefined || row.datetime <= to)
        .map((row) => ({ id: row.position, ...row }))
      const { total, data } = pageOf(rows, page, sizeOf)
      return { total, data: data.map(({ id: _, ...row }) => toChainedEvent(state, row)) }
    },

    async readChain(position, limit, bytes = CHAIN_BYTES) {
      const rows = [...state.events.values()].filter((row) => row.position > position).slice(0, limit)
      return rows.slice(0, rowsThatFit(rows.map(sizeOf), bytes)).map((row) => ({ ...row }))
    },

    async firstSince(datetime) {
      return [...state.events.values()].find((row) => row.datetime >= datetime)?.position
    },

    async head() {
      const { position, hash } = head()
      return { position, hash }
    },
  }
}

function sizeOf({ changes, details }: ChainRow): number {
  return bytesOf(changes, details)
}

function toChainedEvent(state: State, row: ChainRow): ChainedEvent {
  const username = row.user_id === null ? null : (state.users.get(row.user_id)?.username ?? null)
  return { ...toEvent(row), position: row.position, hash: row.hash, username }
}

export function toEvent({ position: _, hash: __, changes, details, ...event }: ChainRow): DomainEvent {
  return { ...event, changes: JSON.parse(changes), details: JSON.parse(details) }
}
