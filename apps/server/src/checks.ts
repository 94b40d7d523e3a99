import type { SchemaState } from '@security-management/adapters-sql'
import type { Check, Checks } from './admin.ts'

/** How long the database may take to answer a check, in milliseconds. */
const DATABASE_ANSWERS_WITHIN = 1000

const OK: Check = { ok: true, says: 'ok' }

const SCHEMA: Record<SchemaState, Check> = {
  current: OK,
  older: bad('the schema is older than this program; restart it'),
  newer: bad('the schema is newer than this program; run that version'),
}

/** Checks whether the database answers, and has the schema that this program knows. */
export async function checkDatabase(schemaState: () => Promise<SchemaState>): Promise<Checks> {
  const state = await within(DATABASE_ANSWERS_WITHIN, schemaState())
  if (state === undefined) return { database: bad('does not answer'), migrations: bad('unknown') }
  return { database: OK, migrations: SCHEMA[state] }
}

/** The check of something that is well or is not. */
export function check(isWell: boolean, otherwise: string): Check {
  return isWell ? OK : bad(otherwise)
}

/** Checks of several processes: of each name the first that is not well. */
export function together(all: Checks[]): Checks {
  const result: Checks = {}
  for (const checks of all) {
    for (const [name, found] of Object.entries(checks)) if (result[name]?.ok !== false) result[name] = found
  }
  return result
}

/** The result of the promise; undefined if it fails, or takes longer than so many milliseconds. */
export async function within<Result>(milliseconds: number, promise: Promise<Result>): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined)
  })
  try {
    return await Promise.race([promise, late])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}

function bad(says: string): Check {
  return { ok: false, says }
}
