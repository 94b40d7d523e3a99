import { backUpSqlite, sqliteFileOf } from '@security-management/adapters-sql'
import { type Command, wrongCall } from './command.ts'

/** Copies the database to a file, also while it is served. */
export const backupCommand: Command = {
  name: 'backup',
  about: 'copies the database to a file, also while it is served (SQLite; for PostgreSQL it names the tool)',
  args: ['FILE'],
  options: { force: { about: 'replaces a file that is there' } },
  async run({ args: [target = ''], flags, config, print, progress }) {
    const file = sqliteFileOf(config.DATABASE_URL)
    if (file === undefined) {
      throw wrongCall(
        'PostgreSQL is copied with its own tool, also while it is served: pg_dump --format=custom --file=FILE "$DATABASE_URL"',
      )
    }
    const onProgress = progress('copying pages')
    const { bytes } = await backUpSqlite(file, target, { force: flags.has('force'), onProgress })
    print({ text: `copied ${file} to ${target}, ${bytes} bytes`, json: { database: file, file: target, bytes } })
  },
}
