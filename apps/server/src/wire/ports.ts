import {
  type Migrated,
  migrate,
  type OnTimed,
  openDatabase,
  type SchemaState,
  schemaStateOf,
  sqlPorts,
} from '@security-management/adapters-sql'
import {
  createEventBus,
  type Judge,
  NO_FEEDS,
  openThreatIndex,
  type Ports,
  type ThreatIndex,
} from '@security-management/domain'
import { systemSurroundings } from '@security-management/domain/memory'
import type { Config } from '../config.ts'
import { createTrafficThread } from '../traffic-reader.ts'

// The folder `wire` is the only place that picks adapters. Each kind has a file of its own, since threads and most commands
// need the database alone, and would load the interface for nothing.

/** The ports of the domain on the database of the configuration. */
export type OpenPorts = {
  ports: Ports
  migrated: Migrated
  /** Asks the database for its schema. */
  schemaState(): Promise<SchemaState>
  /** Judges the traffic files that are opened from now on by these feeds. */
  judgeBy(feeds: ThreatIndex): void
  close(): Promise<void>
}

/**
 * Opens the database, brings it to the newest schema, and puts the ports of the domain on it.
 *
 * @throws Error with one line when the database cannot be opened, reached or migrated.
 */
export async function openPorts(config: Pick<Config, 'DATABASE_URL'>, onTimed?: OnTimed): Promise<OpenPorts> {
  const database = openDatabase(config.DATABASE_URL, onTimed)
  try {
    const migrated = await migrate(database)
    const thread = createTrafficThread()
    let feeds: Judge = NO_FEEDS
    const ports = {
      ...systemSurroundings(),
      ...sqlPorts(database, createEventBus()),
      openTrafficReader: thread.openTrafficReader,
      feeds: () => feeds,
    }
    return {
      ports,
      migrated,
      schemaState: () => schemaStateOf(database),
      judgeBy(index) {
        thread.judgeBy(index)
        feeds = openThreatIndex(index)
      },
      async close() {
        await thread.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}
