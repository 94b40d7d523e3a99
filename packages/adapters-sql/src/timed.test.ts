import { afterAll, describe, expect, test } from 'vitest'
import { migrate, openDatabase, schemaStateOf } from './index.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { testDatabases } from './testing/databases.ts'

for (const { name, create, cleanUp } of testDatabases()) {
  describe(`a database that is watched, ${name}`, () => {
    afterAll(cleanUp)

    test('tells how long each statement and each unit takes, those that fail included', async () => {
      const told: [what: string, isTime: boolean][] = []
      const database = openDatabase(await create(), (what, milliseconds) => told.push([what, milliseconds >= 0]))
      await migrate(database)
      told.length = 0
      await database.reader.selectFrom('file').select('id').where('id', '=', 1).execute()
      expect(told).toEqual([['statement', true]])
      await database.unit(async (db) => {
        await db.insertInto('file').values({ staged_at: 'now' }).execute()
      })
      const failing = database.unit(async () => {
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(told.filter(([what]) => what === 'unit')).toEqual([
        ['unit', true],
        ['unit', true],
      ])
      await database.close()
    })

    test('says whether its schema is this one, an older or a newer one', async () => {
      const database = openDatabase(await create())
      await migrate(database)
      const [last = ''] = Object.keys(MIGRATIONS).slice(-1)
      const { [last]: newest, ...others } = MIGRATIONS
      expect(await schemaStateOf(database)).toBe('current')
      expect(await schemaStateOf(database, others)).toBe('newer')
      expect(await schemaStateOf(database, newest && { ...MIGRATIONS, '9999-next': newest })).toBe('older')
      await database.close()
    })
  })
}
