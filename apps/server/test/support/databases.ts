import { startPostgres, type TestPostgres } from '../../../../packages/adapters-sql/src/testing/postgres.ts'

/** The databases that the service runs on, for tests of the whole of it. Each `open` gives the URL of an empty one. */
export function everyDatabase() {
  let postgres: TestPostgres | undefined
  return {
    databases: [
      { name: 'SQLite', open: async () => 'sqlite:data/service.sqlite' },
      {
        name: 'PostgreSQL',
        async open() {
          postgres ??= await startPostgres()
          return postgres.createDatabase()
        },
      },
    ],
    stop: async () => postgres?.stop(),
  }
}
