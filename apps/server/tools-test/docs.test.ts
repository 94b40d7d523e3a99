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
  page.setDefaultTimeout(TOO_LONG)
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
  await authorize(page, token)

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

test('the documentation page begins with organizations, and says which role each operation takes', async () => {
  const { page, wrong } = await openDocs()
  await page.getByRole('heading', { name: /Security Management Service/ }).waitFor()
  expect(await page.locator('.info').textContent()).toContain('First steps.')
  const subjects = await page.locator('.opblock-tag').evaluateAll((tags) => tags.map((tag) => tag.dataset.tag))
  expect(subjects.slice(0, 5)).toEqual(['Organizations', 'Members', 'Callers', 'Tokens', 'Threat blockers'])

  const operation = page.locator('#operations-Members-addMember')
  await operation.getByRole('button').first().click()
  await operation.getByText('Required role: owner.').waitFor()
  await operation.screenshot({ path: `${SCREENSHOTS}docs-role.png` })
  expect(wrong).toEqual([])
})

test('a document that is attached from the page keeps its type', async () => {
  const token = await firstToken(server)
  const client = clientOf(server.address, token)
  const { body } = await client('POST', '/organizations', { name: 'Acme Energy' })
  const path = `/organizations/${body.organization}/security-frameworks`
  const controls = [{ id: 'A.5.1', title: 'Policies' }]
  const made = await client('POST', path, { title: 'ISO 27001', security_frameworks: controls })

  const { page, wrong } = await openDocs()
  await authorize(page, token)
  const operation = page.locator('#operations-Documents-attachEvidence')
  await operation.getByRole('button').first().click()
  const { id } = made.body.security_framework as { id: number }
  const values = { organizationid: `${body.organization}`, frameworkid: `${id}`, controlid: 'A.5.1' }
  for (const [name, value] of Object.entries(values)) {
    await operation.locator(`tr[data-param-name="${name}"] input`).fill(value)
  }
  const disposition = operation.locator('tr[data-param-name="Content-Disposition"] input')
  expect(await disposition.inputValue()).toBe('attachment; filename="policy.pdf"')
  await operation.locator('.opblock-section-request-body select').selectOption('application/pdf')
  const bytes = Buffer.from('%PDF-1.7')
  await operation
    .locator('input[type=file]')
    .setInputFiles({ name: 'x.pdf', mimeType: 'application/pdf', buffer: bytes })
  const answered = page.waitForResponse((response) => response.request().method() === 'POST')
  await operation.getByRole('button', { name: 'Execute' }).click()
  const answer = await answered
  expect([answer.status(), await answer.request().headerValue('Content-Type')]).toEqual([201, 'application/pdf'])
  await operation.screenshot({ path: `${SCREENSHOTS}docs-attach.png` })
  const { data } = await answer.json()
  const document = await fetch(server.address + data.file_path, { headers: { 'X-Service-Token': token } })
  expect([document.headers.get('Content-Type'), await document.text(), wrong]).toEqual([
    'application/pdf',
    `${bytes}`,
    [],
  ])
})

async function authorize(page: Page, token: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize', exact: true }).first().click()
  await page.locator('.auth-container input').first().fill(token)
  await page
    .locator('.auth-container')
    .first()
    .getByRole('button', { name: /apply credentials/i })
    .click()
  await page.getByRole('button', { name: 'Close', exact: true }).first().click()
}
