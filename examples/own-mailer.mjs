// The interface inside a Koa application that is there already, and a mailer of one's own for its invitations.
import { once } from 'node:events'
import { createApi } from '@security-management/adapters-http'
import { issueToken, OWING_EVENTS, registerUser, sendOwedInvitations, subscribe } from '@security-management/domain'
import { memoryPorts } from '@security-management/domain/memory'
import Koa from 'koa'
import { outboxMailer } from './outbox-mailer.mjs'

const ports = memoryPorts()
const mailer = outboxMailer(async ({ to, text }) => console.log(`to ${to}:`, text.replace(/smi_\w+/, 'smi_…')))
const unmarked = new Map()
const send = () => sendOwedInvitations(ports, mailer, unmarked, ({ outcome }) => console.log('invitation:', outcome))
const sent = new Promise((resolve) => subscribe(ports.bus, OWING_EVENTS, () => send().then(resolve), console.error))

const log = { info() {}, warn: console.warn, error: console.error }
const app = new Koa()
app.use(createApi(ports, { log }))
app.use((ctx) => {
  ctx.body = 'the application as it was'
})
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')

const ada = await registerUser(ports, { email: 'ada@acme.example' })
const { token } = await issueToken(ports, { user: ada.id })
const address = `http://127.0.0.1:${server.address().port}`
const headers = { 'X-Service-Token': token, 'Content-Type': 'application/json' }
const call = async (path, body) =>
  (await fetch(`${address}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()

const { organization } = await call('/organizations', { name: 'Acme' })
console.log(await call(`/organizations/${organization}/users/0`, { email: 'grace@acme.example', role: 'viewer' }))
console.log(await (await fetch(address)).text())
await sent
server.close()
