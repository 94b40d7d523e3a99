import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type Control,
  jsonInParts,
  lastCompleted,
  type SecurityFramework,
  type SecurityFrameworkStore,
} from '@security-management/domain'
import { type Kysely, type Selectable, sql } from 'kysely'
import { kindOf } from './column-types.ts'
import { numbers, pageOf, rows } from './expressions.ts'
import { hot } from './hot.ts'
import { activeOrganizations } from './organization-summary.ts'
import type { Schema } from './schema.ts'

const findTitle = hot((db, organization: number, id: number) =>
  active(db)
    .select(['security_framework.id', 'security_framework.title'])
    .where('security_framework.organization', '=', organization)
    .where('security_framework.id', '=', id),
)
const lockTitle = hot((db, organization: number, id: number) => {
  const query = active(db)
    .select('security_framework.id')
    .where('security_framework.organization', '=', organization)
    .where('security_framework.id', '=', id)
  return kindOf(db) === 'postgres' ? query.forNoKeyUpdate('security_framework') : query
})
const findControls = hot((db, frameworks: string) =>
  db
    .selectFrom('control')
    .select(['framework', 'id', 'body', 'frequency', 'evidences'])
    .where('framework', 'in', numbers(db, frameworks))
    .orderBy('framework')
    .orderBy('position'),
)
const findOneControl = hot((db, organization: number, framework: number, id: string) =>
  active(db)
    .innerJoin('control', 'control.framework', 'security_framework.id')
    .select(['control.id', 'control.body', 'control.frequency', 'control.evidences'])
    .where('security_framework.organization', '=', organization)
    .where('security_framework.id', '=', framework)
    .where('control.id', '=', id),
)
const findSize = hot((db, framework: number) =>
  db.selectFrom('control').select(sizeOfControls().as('size')).where('framework', '=', framework),
)

export function sqlSecurityFrameworks(db: Kysely<Schema>): SecurityFrameworkStore {
  return {
    async insert({ organization, title, created_at, security_frameworks }) {
      const { id } = await db
        .insertInto('security_framework')
        .values({ organization, title, created_at, removed_at: null })
        .returning('id')
        .executeTakeFirstOrThrow()
      await putControls(db, id, security_frameworks)
      return id
    },
    async findActive(organization, id) {
      const [row] = await findTitle(db, organization, id)
      if (!row) return undefined
      const controls = await findControls(db, JSON.stringify([id]))
      const security_frameworks: Control[] = []
      for await (const { control } of readControls(controls)) security_frameworks.push(control)
      return { id, title: row.title, security_frameworks }
    },
    async findControl(organization, id, control) {
      const [row] = await findOneControl(db, organization, id, control)
      return row && toControl(row)
    },
    async controlsSize(id) {
      const [row] = await findSize(db, id)
      return row?.size ?? 0
    },
    async isActive(organization, id) {
      return (await findTitle(db, organization, id)).length > 0
    },
    async listActive(organization, request) {
      const query = active(db)
        .select(['security_framework.id', 'security_framework.title'])
        .where('security_framework.organization', '=', organization)
      const columns = { id: 'security_framework.id', title: 'security_framework.title' }
      const toTitle = ({ id, title }: { id: number; title: string }): SecurityFramework => {
        return { id, title, security_frameworks: [] }
      }
      const size = sql<number>`(select ${sizeOfControls()} from control where framework = security_framework.id)`
      const page = await pageOf(query, request, columns, toTitle, size)
      const byId = new Map(page.data.map((framework) => [framework.id, framework]))
      for await (const { row, control } of readControls(await findControls(db, JSON.stringify([...byId.keys()])))) {
        byId.get(row.framework)?.security_frameworks.push(control)
      }
      return page
    },
    async lock(organization, id) {
      return (await lockTitle(db, organization, id)).length > 0
    },
    async update({ id, title, security_frameworks }) {
      await db.updateTable('security_framework').set({ title }).where('id', '=', id).execute()
      const kept = new Set(security_frameworks.map((control) => control.id))
      const stored = await db.selectFrom('control').select('id').where('framework', '=', id).execute()
      const gone = stored.filter((control) => !kept.has(control.id)).map((control) => [control.id])
      if (gone.length > 0) {
        await db
          .deleteFrom('control')
          .where('framework', '=', id)
          .where('id', 'in', sql<string>`(select item.value ->> 0 from ${rows(db, JSON.stringify(gone))})`)
          .execute()
      }
      await putControls(db, id, security_frameworks)
    },
    async setEvidences(id, control, evidences) {
      await db
        .updateTable('control')
        .set({
          evidences: await jsonInParts({ nextTurn }, evidences),
          last_completed: lastCompleted(evidences) ?? null,
        })
        .where('framework', '=', id)
        .where('id', '=', control)
        .execute()
    },
    async remove(organization, id, at) {
      const { numUpdatedRows } = await db
        .updateTable('security_framework')
        .set({ removed_at: at })
        .where('organization', '=', organization)
        .where('id', '=', id)
        .where('removed_at', 'is', null) // one statement, so two callers cannot both remove it
        .where('organization', 'in', activeOrganizations(db))
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    async listScheduled({ framework, position }, limit) {
      const scheduled = await active(db)
        .innerJoin('control', 'control.framework', 'security_framework.id')
        .select([
          'security_framework.organization',
          'security_framework.title',
          'security_framework.created_at',
          'control.framework',
          'control.position',
          'control.id as control',
          'control.frequency',
          'control.last_completed',
          'control.told',
        ])
        .where('control.frequency', '<>', sql.lit(''))
        .where(sql<boolean>`(control.framework, control.position) > (${framework}, ${position})`)
        .orderBy('control.framework')
        .orderBy('control.position')
        .limit(limit)
        .execute()
      return scheduled.map(({ last_completed, created_at, ...row }) => ({
        ...row,
        since: last_completed ?? created_at,
      }))
    },
    async noteTold(framework, control, due) {
      const { numUpdatedRows } = await db
        .updateTable('control')
        .set({ told: due })
        .where('framework', '=', framework)
        .where('id', '=', control)
        .where((is) => is.or([is('told', 'is', null), is('told', '<', due)])) // one statement, so one process tells
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
  }
}

function active(db: Kysely<Schema>) {
  return db
    .selectFrom('security_framework')
    .innerJoin('organization', 'organization.id', 'security_framework.organization')
    .where('security_framework.removed_at', 'is', null)
    .where('organization.removed_at', 'is', null)
}

/** Characters of controls that are stored, or read, in one turn of the event loop; and of one that is stored by itself. */
const PART = 256 * 1024

type ControlRow = Pick<
  Selectable<Schema['control']>,
  'id' | 'position' | 'body' | 'frequency' | 'evidences' | 'last_completed'
>

/** Inserts the controls, or replaces those that are there; what was told of a control stays. */
async function putControls(db: Kysely<Schema>, framework: number, controls: Control[]): Promise<void> {
  let part: ControlRow[] = []
  let size = 0
  for (const [position, { id, frequency, evidences, ...rest }] of controls.entries()) {
    const body = await jsonInParts({ nextTurn }, rest)
    const last_completed = lastCompleted(evidences) ?? null
    const row = { id, position, body, frequency, evidences: await jsonInParts({ nextTurn }, evidences), last_completed }
    size += row.body.length + row.evidences.length
    if (size < PART) {
      part.push(row)
      continue
    }
    await putRows(db, framework, part)
    await putRow(db, framework, row)
    await nextTurn()
    part = []
    size = 0
  }
  await putRows(db, framework, part)
}

async function putRows(db: Kysely<Schema>, framework: number, controls: ControlRow[]): Promise<void> {
  if (controls.length === 0) return
  const json = JSON.stringify(
    controls.map((row) => [row.id, row.position, row.body, row.frequency, row.evidences, row.last_completed]),
  )
  const field = (index: number) => sql`item.value ->> ${sql.lit(index)}`
  await sql`
    insert into control (framework, id, position, body, frequency, evidences, last_completed)
    select cast(${framework} as bigint), ${field(0)}, cast(${field(1)} as bigint), ${field(2)}, ${field(3)}, ${field(4)},
      ${field(5)}
    from ${rows(db, json)} where true
    on conflict (framework, id) do update set
      position = excluded.position, body = excluded.body, frequency = excluded.frequency, evidences = excluded.evidences,
      last_completed = excluded.last_completed
  `.execute(db)
}

/** Of a row that is large its texts are bound as they are: within JSON they would be written and read once more. */
async function putRow(db: Kysely<Schema>, framework: number, row: ControlRow): Promise<void> {
  const { id, position, body, frequency, evidences, last_completed } = row
  await sql`
    insert into control (framework, id, position, body, frequency, evidences, last_completed)
    values (${framework}, ${id}, ${position}, ${body}, ${frequency}, ${evidences}, ${last_completed})
    on conflict (framework, id) do update set
      position = excluded.position, body = excluded.body, frequency = excluded.frequency, evidences = excluded.evidences,
      last_completed = excluded.last_completed
  `.execute(db)
}

/** The controls that the rows hold, with a turn of the event loop after each part. */
async function* readControls<Row extends Parameters<typeof toControl>[0]>(found: readonly Row[]) {
  let size = 0
  for (const row of found) {
    size += row.body.length + row.evidences.length
    if (size > PART) {
      await nextTurn()
      size = row.body.length + row.evidences.length
    }
    yield { row, control: toControl(row) }
  }
}

/** Bytes of all selected controls, each as JSON: the texts that are stored, and what stands around and between them. */
function sizeOfControls() {
  const around = '"id":"","evidences":,"frequency":"",'.length
  const id = sql`replace(replace(id, ${sql.lit('\\')}, ${sql.lit('\\\\')}), ${sql.lit('"')}, ${sql.lit('\\"')})`
  const size = sql`octet_length(${id}) + octet_length(body) + octet_length(frequency) + octet_length(evidences) + ${sql.lit(around)}`
  return sql<number>`coalesce(sum(${size}), 0)`
}

function toControl(row: { id: string; body: string; frequency: string; evidences: string }): Control {
  const { type, title, weight, details, description, evidence_type } = JSON.parse(row.body)
  const evidences = JSON.parse(row.evidences)
  return { id: row.id, type, title, weight, details, evidences, frequency: row.frequency, description, evidence_type }
}
