// What is published is few files instead of one a use case: to find and read so many takes most of an import's time. All that
// the rules need stands in one; what reads traffic files is loaded when one is read.
export default {
  input: { index: 'dist/index.js', memory: 'dist/memory/index.js', contracts: 'dist/contracts/index.js' },
  external: [/^(?:mitt|valibot|vitest|node:.*)$/],
  platform: 'neutral',
  output: {
    dir: 'bundle',
    cleanDir: true,
    format: 'esm',
    codeSplitting: { groups: [{ name: 'rules', test: /dist[\\/]index\.js$/, includeDependenciesRecursively: true }] },
  },
}
