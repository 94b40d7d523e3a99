import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'
import { fileURLToPath } from 'node:url'

// How long a program waits that imports the domain as it is published, beside valibot, which that brings, in the same run.

const ROUNDS = 21
const DOMAIN = fileURLToPath(new URL('../packages/domain', import.meta.url))

execFileSync('pnpm', ['--silent', 'run', 'prepack'], { cwd: DOMAIN, stdio: ['ignore', 'ignore', 'inherit'] })

const imported: [name: string, file: string][] = [
  ['the domain', 'bundle/index.js'],
  ['valibot alone', 'node_modules/valibot/dist/index.mjs'],
]
const taken = imported.map((): number[] => [])
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [index, [, file]] of imported.entries()) taken[index]?.push(timeOf(`${DOMAIN}/${file}`))
}
process.stdout.write(
  `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.version}; ${ROUNDS} processes each, in turn\n`,
)
for (const [index, [name]] of imported.entries()) {
  const sorted = (taken[index] ?? []).toSorted((one, other) => one - other)
  const [fastest = 0, median = 0] = [sorted[0], sorted[(ROUNDS - 1) / 2]]
  process.stdout.write(
    `  ${name.padEnd(14)} ${median.toFixed(1).padStart(5)} ms, the fastest ${fastest.toFixed(1)} ms\n`,
  )
}

/** Milliseconds that a new process takes for the import alone. */
function timeOf(file: string): number {
  const program = `const start = performance.now(); await import(${JSON.stringify(file)}); console.log(performance.now() - start)`
  return Number(execFileSync(process.execPath, ['--input-type=module', '--eval', program]))
}
