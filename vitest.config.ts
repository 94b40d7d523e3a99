import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Packages of this workspace are tested from their sources, without a build.
const source = { resolve: { conditions: ['source'] }, ssr: { resolve: { conditions: ['source'] } } }

/** The longest file first: last, it would go on by itself when everything else is done. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification) => moduleId.endsWith('/torture.test.ts')
    const sorted = await super.sort(files)
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))]
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...source,
        // The rules, in memory: nothing is started, and nothing is left behind that files would have to be kept apart for.
        test: {
          name: 'domain',
          maxWorkers: '100%',
          include: ['packages/domain/src/**/*.test.ts'],
          isolate: false,
          // All of them take seconds; one may take as long on a machine that has much else to do.
          testTimeout: 30_000,
        },
      },
      {
        ...source,
        test: {
          name: 'adapters',
          include: ['packages/adapters-*/src/**/*.test.ts', 'apps/*/test/**/*.test.ts'],
          // One PostgreSQL for the whole run, where the tests ask for one.
          // And what every answer is held against: the API document.
          globalSetup: [
            'packages/adapters-sql/src/testing/global-setup.ts',
            'packages/adapters-http/src/testing/global-setup.ts',
          ],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
