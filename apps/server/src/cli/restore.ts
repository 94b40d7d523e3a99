import { restoreSqlite, sqliteFileOf } from '@security-management/adapters-sql'
import { type Command, wrongCall } from './command.ts'

/** Puts a backup in the place of the database. */
export const restoreCommand: Command = {
  name: 'restore',
  about: 'puts a backup in the place of the database, which is kept beside it; the service must not run',
  args: ['FILE'],
  options: { force: { about: 'goes on where the database is so damaged that it cannot say who has it open' } },
  async run({ args: [source = ''], flags, config, print }) {
    const file = sqliteFileOf(config.DATABASE_URL)
    if (file === undefined) {
      throw wrongCall(
        'PostgreSQL is restored with its own tool, while no process serves it: pg_restore --clean --if-exists --single-transaction --no-owner --dbname="$DATABASE_URL" FILE',
      )
    }
    const { before } = await restoreSqlite(file, source, { force: flags.has('force') })
    const kept = before === undefined ? '' : `; what was there is now ${before}`
    print({
      text: `restored ${file} from ${source}${kept}`,
      json: { database: file, file: source, before: before ?? null },
    })
  },
}
