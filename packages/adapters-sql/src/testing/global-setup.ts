import { startPostgres } from './postgres.ts'

/** Starts one PostgreSQL for the whole test run; the workers find it under `TEST_POSTGRES_URL`. */
export async function setup(): Promise<() => Promise<void>> {
  const server = await startPostgres()
  process.env.TEST_POSTGRES_URL = server.url
  return server.stop
}
