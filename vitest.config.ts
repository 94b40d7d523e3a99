import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Packages of this workspace are tested from their sources, without a build.
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'apps/*/test/**/*.test.ts'],
    // One PostgreSQL for the whole run, where the tests ask for one.
    globalSetup: ['packages/adapters-sql/src/testing/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
