// Plain JavaScript of any age, so that a Node that is too old still gets an answer it can act on.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 15)) {
  const script = process.env.npm_lifecycle_event === 'pretest' ? 'test' : 'start'
  process.stderr.write(
    `Node ${process.versions.node} is too old (22.15 or newer is needed). Run: npx --yes --package node@24 --package pnpm@12 pnpm ${script}\n`,
  )
  process.exit(1)
}
