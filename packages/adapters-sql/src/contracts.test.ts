import { createEventBus } from '@security-management/domain'
import { allContracts } from '@security-management/domain/contracts'
import { afterAll } from 'vitest'
import { migrate, openDatabase, sqlPorts } from './index.ts'
import { testDatabases } from './testing/databases.ts'

for (const { name, create, cleanUp } of testDatabases()) {
  allContracts(name, async () => {
    const database = openDatabase(await create())
    await migrate(database)
    return { ports: sqlPorts(database, createEventBus()), close: () => database.close() }
  })
  afterAll(cleanUp)
}
