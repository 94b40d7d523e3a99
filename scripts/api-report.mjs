// Writes what the packages export, names and signatures, to `api/`, so that a change is seen in review. With `--check` it
// writes nothing, and fails where a report differs or an export has no docstring. The packages must have been built.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'oxc-parser'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PACKAGES = ['domain', 'adapters-sql', 'adapters-http', 'adapters-mail']

/** Declaration files that were read, by path: their text, comments and statements. */
const files = new Map()

function open(path) {
  const known = files.get(path)
  if (known) return known
  const text = readFileSync(path, 'utf8')
  const { program, comments, errors } = parseSync(path, text, { lang: 'dts' })
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`)
  const file = { path, text, comments, body: program.body }
  files.set(path, file)
  return file
}

/** The declaration file that a relative import names. */
function resolve(from, specifier) {
  return join(dirname(from.path), specifier.replace(/\.[jt]s$/, '.d.ts'))
}

function namesOf(declaration) {
  return declaration.id ? [declaration.id.name] : declaration.declarations.map(({ id }) => id.name)
}

/** What a file exports: each name with its signature, and whether a docstring stands before it. */
function exportsOf(path) {
  const file = open(path)
  const found = []
  for (const node of file.body) {
    if (node.type === 'ExportAllDeclaration') {
      if (node.source.value.startsWith('.')) found.push(...exportsOf(resolve(file, node.source.value)))
      else found.push({ name: node.source.value, signature: textOf(file, node), documented: true })
    } else if (node.type === 'ExportNamedDeclaration' && node.declaration) {
      const signature = textOf(file, node)
      const documented = hasDocstring(file, node)
      for (const name of namesOf(node.declaration)) found.push({ name, signature, documented })
    } else if (node.type === 'ExportNamedDeclaration') found.push(...listedExports(file, node))
  }
  return found
}

/** What `export { a, b } from './file.ts'` names, or `export { a }` of an import. */
function listedExports(file, node) {
  const names = node.specifiers.map(({ exported }) => exported.name)
  if (names.length === 0) return []
  const source = node.source?.value ?? importOf(file, names[0])
  const all = exportsOf(resolve(file, source))
  return names.flatMap((name) => {
    const matching = all.filter((found) => found.name === name)
    if (matching.length === 0) throw new Error(`${file.path}: ${source} does not export ${name}`)
    return matching
  })
}

function importOf(file, name) {
  const found = file.body.find(
    (node) => node.type === 'ImportDeclaration' && node.specifiers.some(({ local }) => local.name === name),
  )
  if (!found) throw new Error(`${file.path} exports ${name} from nowhere`)
  return found.source.value
}

/** The text of a declaration without comments, its spaces made alike. */
function textOf(file, node) {
  let text = ''
  let at = node.start
  for (const { start, end } of file.comments) {
    if (start < node.start || end > node.end) continue
    text += file.text.slice(at, start)
    at = end
  }
  return (text + file.text.slice(at, node.end)).replace(/\n\s*\n/g, '\n').replace(/[ \t]+$/gm, '')
}

function hasDocstring(file, node) {
  return file.comments.some(
    ({ type, value, end }) =>
      type === 'Block' && value.startsWith('*') && /^\s*$/.test(file.text.slice(end, node.start)) && end <= node.start,
  )
}

const missing = []
const changed = []
for (const name of PACKAGES) {
  const directory = join(ROOT, 'packages', name)
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  let report = `# What ${manifest.name} exports\n`
  for (const [entry, { types }] of Object.entries(manifest.exports)) {
    const found = exportsOf(join(directory, types))
    const documented = new Set(found.filter((one) => one.documented).map((one) => one.name))
    // A type that is inferred from the schema of its name is documented there.
    missing.push(
      ...found.filter((one) => !documented.has(one.name)).map((one) => `${manifest.name} ${entry}: ${one.name}`),
    )
    const signatures = [...new Set(found.map(({ signature }) => signature))].toSorted()
    report += `\n## ${join(manifest.name, entry)}\n\n\`\`\`ts\n${signatures.join('\n')}\n\`\`\`\n`
  }
  const path = join(ROOT, 'api', `${name}.md`)
  if (existsSync(path) && readFileSync(path, 'utf8') === report) continue
  changed.push(`api/${name}.md`)
  if (!process.argv.includes('--check')) writeFileSync(path, report)
}

if (missing.length > 0) console.error(`These exports have no docstring:\n${missing.join('\n')}`)
if (changed.length > 0)
  console.error(`${process.argv.includes('--check') ? 'Differs, run pnpm api' : 'Written'}: ${changed.join(', ')}`)
if (missing.length > 0 || (changed.length > 0 && process.argv.includes('--check'))) process.exitCode = 1
