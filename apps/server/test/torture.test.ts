import { describe, expect, test } from 'vitest'
import { SCENARIOS } from '../../../torture/scenarios.ts'
import { torture } from '../../../torture/torture.ts'

// The short form of `pnpm torture`: every scenario, a few seconds each; more of them on a machine that is busy.
const PATIENCE = 5 * 60 * 1000

describe.each(SCENARIOS)('$name: $title', (scenario) => {
  test.each(scenario.databases)('on %s', { timeout: PATIENCE }, async (database) => {
    const { rounds, assertions, failures } = await torture(scenario, { database, size: 'short', seed: 1 })
    expect(failures).toEqual([])
    expect(rounds).toBeGreaterThan(0)
    expect(assertions).toBeGreaterThan(0)
  })
})
