import { defineConfig } from 'vitest/config'

// What needs programs that `pnpm test` does without: a browser, curl, Python.
export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: { include: ['apps/*/tools-test/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 60_000 },
})
