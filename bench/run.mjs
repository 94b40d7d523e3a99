// `pnpm bench NAME` runs one benchmark of this folder.
const [name = ''] = process.argv.slice(2)
if (!['traffic', 'frameworks', 'import'].includes(name)) {
  process.stderr.write('Usage: pnpm bench traffic|frameworks|import\n')
  process.exit(2)
}
await import(`./${name}.ts`)
