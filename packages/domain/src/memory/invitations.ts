import type { InvitationStore, OwedMail } from '../members/invitation-store.ts'
import type { User } from '../members/user.ts'
import { compare } from './page-of.ts'
import { copy, type InvitationRow, isActive, type MembershipRow, type State, summaryOf } from './state.ts'

export function memoryInvitations(state: State): InvitationStore {
  function membershipOf({ membership }: InvitationRow): MembershipRow | undefined {
    const row = state.memberships.get(membership)
    return row && isActive(state, row) ? row : undefined
  }
  function owed(): InvitationRow[] {
    return [...state.invitations.values()]
      .filter((row) => row.code !== null && membershipOf(row))
      .toSorted((a, b) => compare(a.due_at, b.due_at) || compare(a.id, b.id))
  }
  function change(id: number, changes: Partial<InvitationRow>): void {
    const row = state.invitations.get(id)
    if (row) state.invitations.set(id, { ...row, ...changes })
  }
  return {
    async insert(invitation) {
      const id = state.nextId('invitations')
      const untried = { due_at: invitation.created_at, attempts: 0, sent_at: null, given_up_at: null, error: null }
      state.invitations.set(id, copy({ id, ...invitation, used_at: null, replaced_at: null, ...untried }))
    },

    async nthNewest({ actor, organization, recipient }, n, since) {
      return [...state.invitations.values()]
        .filter(({ created_at, invited_by, membership }) => {
          const of = state.memberships.get(membership)
          return (
            created_at > since &&
            (actor === undefined || invited_by === actor) &&
            (organization === undefined || of?.organization === organization) &&
            (recipient === undefined || of?.user === recipient)
          )
        })
        .map(({ created_at }) => created_at)
        .toSorted(compare)
        .at(-n)
    },

    async replace(membership, at) {
      const row = [...state.invitations.values()].find((candidate) => {
        return candidate.membership === membership && isOpen(candidate)
      })
      if (!row) return false
      change(row.id, { replaced_at: at, code: null })
      return true
    },

    async findUsable(codeHash, now) {
      const row = [...state.invitations.values()].find(
        (candidate) => candidate.code_hash === codeHash && isOpen(candidate) && candidate.expires_at > now,
      )
      const membership = row && membershipOf(row)
      return membership && { id: row.id, organization: membership.organization, user: membership.user }
    },

    async use(id, at) {
      const row = state.invitations.get(id)
      if (!row || !isOpen(row)) return false
      change(id, { used_at: at, code: null })
      return true
    },

    async leaseOwed(now, leaseUntil, limit) {
      const mails: OwedMail[] = []
      const due = owed().filter(({ due_at }) => due_at <= now)
      for (const row of due.slice(0, limit)) {
        const leased = { ...row, attempts: row.attempts + 1, due_at: leaseUntil }
        const membership = membershipOf(row)
        if (!membership || row.code === null) continue
        state.invitations.set(row.id, leased)
        mails.push(mailOf(state, leased, membership, row.code))
      }
      return mails
    },

    async markSent(id, at) {
      change(id, { sent_at: at, code: null })
    },

    async postpone(id, next, error) {
      change(id, { due_at: next, error })
    },

    async giveUp(id, at, error) {
      const row = state.invitations.get(id)
      if (!row || row.code === null) return undefined
      change(id, { given_up_at: at, error, code: null })
      const membership = membershipOf(row)
      return membership && { organization: membership.organization, user: membership.user }
    },

    async forgetCodes(organization, user) {
      for (const { id, membership } of state.invitations.values()) {
        const of = state.memberships.get(membership)
        if (of?.organization === organization && (user === undefined || of.user === user)) change(id, { code: null })
      }
    },

    async forgetExpiredCodes(now) {
      for (const row of state.invitations.values()) {
        if (row.expires_at <= now && !membershipOf(row)) change(row.id, { code: null })
      }
    },

    async nextDue() {
      return owed()[0]?.due_at
    },

    async countOwed() {
      return owed().length
    },
  }
}

function isOpen({ used_at, replaced_at }: InvitationRow): boolean {
  return used_at === null && replaced_at === null
}

function mailOf(state: State, row: InvitationRow, membership: MembershipRow, code: string): OwedMail {
  const to = userOf(state, membership.user)
  const by = userOf(state, row.invited_by)
  return {
    id: row.id,
    attempts: row.attempts,
    message_id: row.message_id,
    to: to.email,
    first_name: to.first_name,
    locale: to.locale,
    organization_name: summaryOf(state, membership.organization).name,
    role: membership.role,
    invited_by: `${by.first_name} ${by.last_name}`.trim() || by.email,
    code,
    expires_at: row.expires_at,
  }
}

function userOf(state: State, id: string): User {
  const user = state.users.get(id)
  if (!user) throw new Error(`There is no user ${id}`)
  return user
}
