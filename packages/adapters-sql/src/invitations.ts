import type { InvitationStore, OwedMail } from '@security-management/domain'
import { type Kysely, sql } from 'kysely'
import { kindOf } from './column-types.ts'
import { hot } from './hot.ts'
import type { Schema } from './schema.ts'

const findByCode = hot((db, hash: string, now: string) =>
  active(db)
    .select(['invitation.id', 'member.organization', 'member.user'])
    .where('invitation.code_hash', '=', hash)
    .where('invitation.used_at', 'is', null)
    .where('invitation.replaced_at', 'is', null)
    .where('invitation.expires_at', '>', now),
)

export function sqlInvitations(db: Kysely<Schema>): InvitationStore {
  return {
    async insert({ membership, ...invitation }) {
      await db
        .insertInto('invitation')
        .values({ ...invitation, member: membership, attempts: 0, next_attempt_at: invitation.created_at })
        .execute()
    },
    async nthNewest({ actor, organization, recipient }, n, since) {
      let query = db
        .selectFrom('invitation')
        .innerJoin('member', 'member.id', 'invitation.member')
        .select('invitation.created_at')
        .where('invitation.created_at', '>', since)
      if (actor !== undefined) query = query.where('invitation.invited_by', '=', actor)
      if (organization !== undefined) query = query.where('member.organization', '=', organization)
      if (recipient !== undefined) query = query.where('member.user', '=', recipient)
      const row = await query
        .orderBy('invitation.created_at', 'desc')
        .limit(1)
        .offset(n - 1)
        .executeTakeFirst()
      return row?.created_at
    },
    async replace(membership, at) {
      const { numUpdatedRows } = await db
        .updateTable('invitation')
        .set({ replaced_at: at, code: null })
        .where('member', '=', membership)
        .where('used_at', 'is', null)
        .where('replaced_at', 'is', null) // one statement, so of several at once one replaces it
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    async findUsable(codeHash, now) {
      const [row] = await findByCode(db, codeHash, now)
      return row
    },
    async use(id, at) {
      const { numUpdatedRows } = await db
        .updateTable('invitation')
        .set({ used_at: at, code: null })
        .where('id', '=', id)
        .where('used_at', 'is', null) // one statement, so of several at once one uses it
        .where('replaced_at', 'is', null)
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    async leaseOwed(now, leaseUntil, limit) {
      let due = active(db)
        .select('invitation.id')
        .where('invitation.code', 'is not', null)
        .where('invitation.next_attempt_at', '<=', now)
        .where((is) => is.or([is('invitation.lease_until', 'is', null), is('invitation.lease_until', '<=', now)]))
        .orderBy('invitation.next_attempt_at')
        .orderBy('invitation.id')
        .limit(limit)
      // Another process that leases at the same time is passed by, not waited for.
      if (kindOf(db) === 'postgres') due = due.forUpdate('invitation').skipLocked()
      const leased = await db
        .updateTable('invitation')
        .set({ lease_until: leaseUntil, attempts: sql`attempts + 1` })
        .where('id', 'in', due)
        .returning('id')
        .execute()
      if (leased.length === 0) return []
      const rows = await owed(db)
        .where(
          'invitation.id',
          'in',
          leased.map(({ id }) => id),
        )
        .execute()
      return rows.map(toOwedMail)
    },
    async markSent(id, at) {
      await db
        .updateTable('invitation')
        .set({ code: null, sent_at: at, lease_until: null })
        .where('id', '=', id)
        .execute()
    },
    async postpone(id, next, error) {
      await db
        .updateTable('invitation')
        .set({ next_attempt_at: next, lease_until: null, last_error: error })
        .where('id', '=', id)
        .execute()
    },
    async giveUp(id, at, error) {
      const { numUpdatedRows } = await db
        .updateTable('invitation')
        .set({ code: null, given_up_at: at, lease_until: null, last_error: error })
        .where('id', '=', id)
        .where('code', 'is not', null)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) return undefined
      return db
        .selectFrom('invitation')
        .innerJoin('member', 'member.id', 'invitation.member')
        .select(['member.organization', 'member.user'])
        .where('invitation.id', '=', id)
        .executeTakeFirst()
    },
    async forgetCodes(organization, user) {
      let members = db.selectFrom('member').select('id').where('organization', '=', organization)
      if (user !== undefined) members = members.where('user', '=', user)
      await db
        .updateTable('invitation')
        .set({ code: null })
        .where('code', 'is not', null)
        .where('member', 'in', members)
        .execute()
    },
    async forgetExpiredCodes(now) {
      await db
        .updateTable('invitation')
        .set({ code: null })
        .where('code', 'is not', null)
        .where('expires_at', '<=', now)
        .where('id', 'not in', active(db).select('invitation.id').where('invitation.code', 'is not', null))
        .execute()
    },
    async nextDue() {
      const due = sql<
        string | null
      >`min(case when lease_until > next_attempt_at then lease_until else next_attempt_at end)`
      const row = await active(db).select(due.as('due')).where('invitation.code', 'is not', null).executeTakeFirst()
      return row?.due ?? undefined
    },
    async countOwed() {
      const { count } = await active(db)
        .select((is) => is.fn.countAll<number>().as('count'))
        .where('invitation.code', 'is not', null)
        .executeTakeFirstOrThrow()
      return count
    },
  }
}

/** Invitations that count: neither their membership nor its organization is removed. */
function active(db: Kysely<Schema>) {
  return db
    .selectFrom('invitation')
    .innerJoin('member', 'member.id', 'invitation.member')
    .innerJoin('organization', 'organization.id', 'member.organization')
    .where('member.removed_at', 'is', null)
    .where('organization.removed_at', 'is', null)
}

function owed(db: Kysely<Schema>) {
  return active(db)
    .innerJoin('user as invited', 'invited.id', 'member.user')
    .innerJoin('user as inviter', 'inviter.id', 'invitation.invited_by')
    .select([
      'invitation.id',
      'invitation.attempts',
      'invitation.message_id',
      'invitation.code',
      'invitation.expires_at',
      'invited.email as to',
      'invited.first_name',
      'invited.locale',
      'organization.name as organization_name',
      'member.role',
      'inviter.first_name as inviter_first_name',
      'inviter.last_name as inviter_last_name',
      'inviter.email as inviter_email',
    ])
    .orderBy('invitation.next_attempt_at')
    .orderBy('invitation.id')
}

type OwedRow = Awaited<ReturnType<ReturnType<typeof owed>['execute']>>[number]

function toOwedMail({ inviter_first_name, inviter_last_name, inviter_email, ...row }: OwedRow): OwedMail {
  return {
    ...row,
    code: row.code ?? '',
    locale: row.locale as OwedMail['locale'],
    role: row.role as OwedMail['role'],
    invited_by: `${inviter_first_name} ${inviter_last_name}`.trim() || inviter_email,
  }
}
