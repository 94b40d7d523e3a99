// What is published is few files instead of one a use case: to find and read so many takes most of an import's time.
export default {
  input: { index: 'dist/index.js', memory: 'dist/memory/index.js', contracts: 'dist/contracts/index.js' },
  external: [/^(?:mitt|valibot|vitest|node:.*)$/],
  platform: 'neutral',
  output: { dir: 'bundle', format: 'esm' },
}
