import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientOf } from '../test/support/client.ts'
import { temporaryDirectory } from '../test/support/program.ts'
import { firstToken, startServer, type TestServer } from '../test/support/server.ts'

/** Where systems put the browser; `CHROMIUM` names another place. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const SCREENSHOTS = fileURLToPath(new URL('../../../test-results/', import.meta.url))

/** A browser on a busy machine takes its time, in milliseconds. */
const TOO_LONG = 120_000

let directory: Awaited<ReturnType<typeof temporaryDirectory>>
let server: TestServer
let browser: Browser

beforeAll(async () => {
  const executablePath = [process.env.CHROMIUM ?? '', ...PLACES].find((path) => path !== '' && existsSync(path))
  if (!executablePath) {
    throw new Error('No browser: install Debian’s package chromium (apt-get install chromium), or name one in CHROMIUM')
  }
  directory = await temporaryDirectory()
  server = await startServer(directory.path, {}, [], TOO_LONG)
  // Its sandbox refuses root, as whom continuous integration runs.
  browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 })
})

afterAll(async () => {
  await browser?.close()
  await server?.stop()
  await directory?.remove()
})

/** The page, and everything that went wrong in it, broke its policy (the console tells), or left for elsewhere. */
async function openDocs(): Promise<{ page: Page; wrong: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 1000 } })
  const wrong: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') wrong.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => wrong.push(`error: ${error.message}`))
  page.on('requestfailed', (request) => wrong.push(`failed: ${request.url()}`))
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'blob:' && origin !== server.address) wrong.push(`left: ${request.url()}`)
  })
  await page.goto(`${server.address}/docs`)
  return { page, wrong }
}

test('the documentation page lists blockers for who enters a token', async () => {
  const token = await firstToken(server)
  const client = clientOf(server.address, token)
  const { body: created } = await client('POST', '/organizations', { name: 'Acme Energy' })
  const services = ['Service IPv4 Protection']
  const blocker = { organization: created.organization, device_id: 'gateway-1', email: 'soc@acme.example' }
  await client('POST', '/atb', { ...blocker, type: 'series', services })

  const { page, wrong } = await openDocs()
  await page.getByRole('heading', { name: /Security Management Service/ }).waitFor()

  await page.getByRole('button', { name: 'Authorize', exact: true }).first().click()
  await page.locator('.auth-container input').first().fill(token)
  await page
    .locator('.auth-container')
    .first()
    .getByRole('button', { name: /apply credentials/i })
    .click()
  await page.getByRole('button', { name: 'Close', exact: true }).first().click()

  const operation = page.locator(
    '#operations-Threat_blockers-listThreatBlockers, #operations-Threat\\ blockers-listThreatBlockers',
  )
  await operation.getByRole('button').first().click()
  await operation.getByRole('button', { name: 'Execute' }).click()
  const answer = operation.locator('.live-responses-table .response').first()
  await answer.waitFor()
  expect([await answer.textContent(), wrong]).toEqual([expect.stringContaining('gateway-1'), []])
  expect(await answer.locator('.response-col_status').textContent()).toContain('200')

  await mkdir(SCREENSHOTS, { recursive: true })
  await operation.scrollIntoViewIfNeeded()
  await page.screenshot({ path: `${SCREENSHOTS}docs.png`, fullPage: false })
  expect(wrong).toEqual([])
})
