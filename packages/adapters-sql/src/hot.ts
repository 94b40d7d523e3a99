import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import { type DatabaseKind, kindOf } from './column-types.ts'
import type { Schema } from './schema.ts'

const SLOT = Symbol('slot')

/** Stands in a compiled query for a value that is given at each run. */
type Slot = { [SLOT]: number }

/** What can be bound as it is by both drivers. */
type Bindable = number | string | Uint8Array | null

type Template<Row> = { query: CompiledQuery<Row>; parameters: readonly (Slot | Bindable)[] }

/**
 * A query that is built and compiled once for each kind of database, and then run with the values of each call: Kysely's
 * work on a query is most of what a look-up costs on SQLite.
 *
 * @param build makes the query; it may use its values as bound values only, and not look at them.
 */
export function hot<Values extends Bindable[], Row>(
  build: (db: Kysely<Schema>, ...values: Values) => Compilable<Row>,
): (db: Kysely<Schema>, ...values: Values) => Promise<Row[]> {
  const templates = new Map<DatabaseKind, Template<Row>>()
  return async (db, ...values) => {
    const kind = kindOf(db)
    let template = templates.get(kind)
    if (!template) {
      const slots = values.map((_, index): Slot => ({ [SLOT]: index }))
      const query = build(db, ...(slots as unknown as Values)).compile()
      template = { query, parameters: query.parameters as readonly (Slot | Bindable)[] }
      templates.set(kind, template)
    }
    const parameters = template.parameters.map((parameter) => (isSlot(parameter) ? values[parameter[SLOT]] : parameter))
    const { rows } = await db.executeQuery<Row>({ ...template.query, parameters })
    return rows
  }
}

function isSlot(parameter: Slot | Bindable): parameter is Slot {
  return typeof parameter === 'object' && parameter !== null && SLOT in parameter
}
