import { databaseGone } from './database-gone.ts'
import { diskFull } from './disk-full.ts'
import { hostileBytes } from './hostile-bytes.ts'
import { killed } from './killed.ts'
import { mail } from './mail.ts'
import { rights } from './rights.ts'
import type { Scenario } from './scenario.ts'
import { slowClients } from './slow-clients.ts'
import { stopped } from './stopped.ts'
import { synced } from './synced.ts'

/** All scenarios, in the order in which they are run. */
export const SCENARIOS: readonly Scenario[] = [
  killed,
  databaseGone,
  diskFull,
  synced,
  mail,
  slowClients,
  stopped,
  hostileBytes,
  rights,
]
