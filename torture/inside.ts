import { openPorts } from '../apps/server/src/wire/ports.ts'
import { openDatabase } from '../packages/adapters-sql/src/index.ts'
import type { Ports } from '../packages/domain/src/index.ts'
import type { Context } from './scenario.ts'

/** Rows by the name of their table, in no order. */
export type Tables = { [table: string]: { [column: string]: unknown }[] }

/** A database seen from this process, beside the services that run on it. */
export type Inside = {
  /** The use cases, to make records with that the interface has no operation for, and to look at what was stored. */
  ports: Ports
  /** All rows of these tables, or of all. */
  tables(names?: string[]): Promise<Tables>
  /** The code of the invitation that is owed to this address. */
  codeFor(email: string): Promise<string>
  /** How many mails are owed. */
  owedMails(): Promise<number>
  /** As though the time had passed after which mails are tried again: that of none that is being sent. */
  makeMailsDue(): Promise<void>
}

/** Opens a database, whose schema is brought to the newest; it is closed in the end. */
export async function lookInside({ atEnd }: Context, DATABASE_URL: string): Promise<Inside> {
  const opened = await openPorts({ DATABASE_URL })
  atEnd(opened.close)
  const database = await openDatabase(DATABASE_URL)
  atEnd(database.close)
  return {
    ports: opened.ports,
    async tables(names) {
      const tables: Tables = {}
      const all = async () => (await database.reader.introspection.getTables()).map(({ name }) => name)
      for (const name of names ?? (await all())) {
        tables[name] = await database.reader
          .selectFrom(name as never)
          .selectAll()
          .execute()
      }
      return tables
    },
    async codeFor(email) {
      const { code } = await database.reader
        .selectFrom('invitation')
        .innerJoin('member', 'member.id', 'invitation.member')
        .innerJoin('user', 'user.id', 'member.user')
        .select('code')
        .where('user.email', '=', email)
        .where('replaced_at', 'is', null)
        .executeTakeFirstOrThrow()
      return code ?? ''
    },
    async owedMails() {
      const owed = database.reader.selectFrom('invitation').select('id').where('code', 'is not', null)
      return (await owed.execute()).length
    },
    async makeMailsDue() {
      const now = new Date().toISOString()
      await database.unit(async (db) => {
        await db.updateTable('invitation').set({ next_attempt_at: now }).where('next_attempt_at', '>', now).execute()
      })
    },
  }
}

/** Files that no record names: what uploads that were refused or broken off may not leave behind. */
export function unownedFiles({ file = [], document = [], traffic_upload = [], threat_feed = [] }: Tables): number {
  const owned = new Set([
    ...document.map((row) => row.file),
    ...traffic_upload.map((row) => row.raw_file),
    ...threat_feed.map((row) => row.file),
  ])
  return file.filter(({ id }) => !owned.has(id)).length
}
