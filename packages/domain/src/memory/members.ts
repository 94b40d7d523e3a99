import type { Member } from '../members/member.ts'
import type { MemberStore } from '../members/member-store.ts'
import { fold } from '../values.ts'
import { compare, pageOf } from './page-of.ts'
import { isActive, type MembershipRow, type State, summaryOf } from './state.ts'

export function memoryMembers(state: State): MemberStore {
  function active(): MembershipRow[] {
    return [...state.memberships.values()].filter((row) => isActive(state, row))
  }
  function findRow(organization: number, user: string): MembershipRow | undefined {
    return active().find((row) => row.organization === organization && row.user === user)
  }
  return {
    async insert(membership) {
      if (findRow(membership.organization, membership.user)) return undefined
      const id = state.nextId('memberships')
      state.memberships.set(id, { id, ...membership, removed_at: null })
      return id
    },

    async find(organization, user) {
      return findRow(organization, user)?.id
    },

    async roleOf(organization, user) {
      return findRow(organization, user)?.role
    },

    async organizationsOf(user, roles) {
      return active()
        .filter((row) => row.user === user && roles.includes(row.role))
        .map(({ organization }) => organization)
        .toSorted(compare)
    },

    async membershipsOf(user) {
      return active()
        .filter((row) => row.user === user)
        .toSorted((a, b) => compare(a.organization, b.organization))
        .map(({ organization, role }) => ({ organization: summaryOf(state, organization), role }))
    },

    async withRoles(organization, roles) {
      return active()
        .filter((row) => row.organization === organization && roles.includes(row.role))
        .map(({ user }) => user)
        .toSorted(compare)
    },

    async listActive(organization, { role, search }, page) {
      const members = active()
        .filter((row) => row.organization === organization)
        .map((row) => memberOf(state, row))
        .filter((member) => role === undefined || member.role === role)
        .filter((member) => search === undefined || matches(member, search))
      return pageOf(members, page)
    },

    async setRole(organization, user, role) {
      const row = findRow(organization, user)
      if (!row) return false
      state.memberships.set(row.id, { ...row, role })
      return true
    },

    async remove(organization, user, at) {
      const row = findRow(organization, user)
      if (!row) return undefined
      state.memberships.set(row.id, { ...row, removed_at: at })
      return row.role
    },
  }
}

function memberOf(state: State, { user: id, role }: MembershipRow): Member {
  const user = state.users.get(id)
  if (!user) throw new Error(`There is no user ${id}`)
  const { username, email, first_name, last_name } = user
  return { id, username, email, first_name, last_name, role }
}

function matches({ username, email, first_name, last_name }: Member, search: string): boolean {
  return [username, email, first_name, last_name].some((text) => fold(text).includes(fold(search)))
}
