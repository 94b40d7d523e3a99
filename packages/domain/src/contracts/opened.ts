import { afterAll, beforeAll } from 'vitest'
import { systemSurroundings } from '../memory/surroundings.ts'
import type { Ports, Stores } from '../ports.ts'
import { readTrafficHere } from '../traffic/traffic-reader.ts'
import { NO_FEEDS } from '../traffic/traffic-reading.ts'

/** The ports that an adapter of the stores brings. */
export type OpenedPorts = Stores & Pick<Ports, 'transact' | 'files' | 'integrity' | 'bus'>

/** An empty set of stores, and the way to let go of it. */
export type Opened = { ports: OpenedPorts; close(): Promise<void> }
/** Opens an empty set of stores, new at every call. */
export type Open = () => Promise<Opened>

/** The time at which the use cases of the contracts run. */
export const NOW = '2026-03-01T12:00:00.000Z'

/** All ports: the adapter's, and surroundings whose clock stands still. */
export function withSurroundings(ports: OpenedPorts): Ports {
  const surroundings = { ...systemSurroundings(), now: () => new Date(NOW) }
  return {
    ...ports,
    ...surroundings,
    openTrafficReader: readTrafficHere(surroundings.newSha256),
    feeds: () => NO_FEEDS,
  }
}

/**
 * Opens once for all tests of the surrounding `describe`, since a new database is slow to make. The tests share it, so
 * each makes what it looks at.
 */
export function openOnce(open: Open): { readonly ports: Ports } {
  let opened: Opened | undefined
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(async () => {
    await opened?.close()
  })
  return {
    get ports() {
      if (!opened) throw new Error('Opened before the tests run, not before they are declared')
      return withSurroundings(opened.ports)
    },
  }
}

/** Runs one test on stores of its own, where emptiness matters. */
export async function openFresh(open: Open, run: (ports: Ports) => Promise<void>): Promise<void> {
  const { ports, close } = await open()
  try {
    await run(withSurroundings(ports))
  } finally {
    await close()
  }
}
