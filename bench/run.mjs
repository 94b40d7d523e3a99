// `pnpm bench NAME` runs one benchmark of this folder.
const [name = ''] = process.argv.slice(2)
if (!['traffic'].includes(name)) {
  process.stderr.write('Usage: pnpm bench traffic\n')
  process.exit(2)
}
await import(`./${name}.ts`)
