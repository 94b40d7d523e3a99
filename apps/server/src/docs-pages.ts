import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Page, Pages } from '@security-management/adapters-http'

const PAGE = '/docs'

// All that the page is made of comes from here. What the style sheet draws with it carries in itself, as data.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const TYPES = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  png: 'image/png',
} as const

/** Shows the document that the same service gives. Nothing is asked of any other, and no token outlives the page. */
const START = `SwaggerUIBundle({
  url: 'api/v1/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: true,
  validatorUrl: null,
})
`

/**
 * The documentation page and its files, by path. Each file has its content's hash in its name, so that a client may keep
 * it for good.
 */
export function docsPages(): Pages {
  const directory = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const pages = new Map<string, Page>()

  /** Adds a file, and says where it is, as seen from the page. */
  function add(name: string, body = readFileSync(join(directory, name))): string {
    const [, base, type] = /^(.+)\.(\w+)$/.exec(name) ?? []
    const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
    const path = `${PAGE}/${base}.${hash}.${type}`
    pages.set(path, {
      content_type: TYPES[type as keyof typeof TYPES],
      body,
      headers: { 'Cache-Control': 'public, max-age=31536000, immutable' },
    })
    return path.slice(1)
  }

  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Security Management Service: API</title>
<link rel="icon" type="image/png" sizes="32x32" href="${add('favicon-32x32.png')}">
<link rel="stylesheet" href="${add('swagger-ui.css')}">
</head>
<body>
<div id="docs"></div>
<noscript>The page needs JavaScript; <a href="api/v1/openapi.json">the document that it shows</a> does not.</noscript>
<script src="${add('swagger-ui-bundle.js')}"></script>
<script src="${add('start.js', Buffer.from(START))}"></script>
</body>
</html>
`
  return pages.set(PAGE, {
    content_type: 'text/html; charset=utf-8',
    body: Buffer.from(html),
    headers: { 'Cache-Control': 'no-cache', 'Content-Security-Policy': POLICY },
  })
}
