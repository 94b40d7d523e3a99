import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Client, clientOf } from '../apps/server/test/support/client.ts'
import type { State } from './ledger.ts'
import type { Random } from './random.ts'

/** Where the writers of one round work: an organization of their own, on a service that runs. */
export type Site = {
  /** What the records of this site are named after; no other site's name begins with it. */
  name: string
  address: string
  /** Owns the organization. */
  ownerToken: string
  /** A security officer of it, who is told of what the owner does. */
  officerToken: string
  organization: number
  /** Takes the traffic. */
  blocker: number
  /** Takes the documents. */
  framework: number
}

/** What a writer is about to send, and what a reader must see when it was acknowledged. */
export type Request = { state: State; send: (client: Client) => Promise<Answer> }

/** A record as its writer knows it. */
export type Written = { key: string; id: string | number; state: State }

/** A kind of record: how one is written, and how all of a site are found again. */
export type Kind = {
  name: string
  /** How many of them the owner of a site may create. */
  most?: number
  create(site: Site, random: Random, key: string): Request & { id: (answer: Answer) => string | number }
  edit?(site: Site, random: Random, record: Written): Request
  remove?(site: Site, record: Written): (client: Client) => Promise<Answer>
  /** What is there, by key. @throws Error where something is half there. */
  find(site: Site): Promise<Map<string, State>>
  /** What an officer must be told, once, of each record that the owner creates or removes. */
  notices?: { create?: (key: string) => string; remove?: (key: string) => string }
}

export const ownerOf = ({ address, ownerToken }: Site) => clientOf(address, ownerToken)
export const officerOf = ({ address, officerToken }: Site) => clientOf(address, officerToken)

const json = JSON.stringify
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** The records of a list, all pages of it. */
export async function listAll<Item>(client: Client, path: string): Promise<Item[]> {
  const items: Item[] = []
  for (;;) {
    const separator = path.includes('?') ? '&' : '?'
    const { status, body } = await client('GET', `${path}${separator}limit=1000&offset=${items.length}`)
    if (status !== 200) throw new Error(`GET ${path} answers ${status} ${json(body)}`)
    items.push(...(body.data as Item[]))
    if (items.length >= Number(body.total)) return items
  }
}

async function download(site: Site, path: string): Promise<{ name: string; bytes: Uint8Array }> {
  const response = await fetch(`${site.address}${path}`, { headers: { 'X-Service-Token': site.ownerToken } })
  if (response.status !== 200) throw new Error(`GET ${path} answers ${response.status}`)
  const name = /filename="?([\w.-]+)/.exec(response.headers.get('Content-Disposition') ?? '')?.[1] ?? ''
  return { name, bytes: new Uint8Array(await response.arrayBuffer()) }
}

const organizations: Kind = {
  name: 'organization',
  create: (_site, random, key) => {
    const number_employees = random.between(0, 1000)
    return {
      state: { number_employees },
      send: (client) => client('POST', '/organizations', { name: key, number_employees }),
      id: ({ body }) => body.organization as number,
    }
  },
  edit: (_site, random, { id }) => {
    const number_employees = random.between(1001, 2000)
    return {
      state: { number_employees },
      send: (client) => client('PUT', `/organizations/${id}`, { number_employees }),
    }
  },
  remove:
    (_site, { id }) =>
    (client) =>
      client('DELETE', `/organizations/${id}`),
  async find(site) {
    type Found = { name: string; number_employees: number }
    const found = await listAll<Found>(ownerOf(site), `/organizations?name=${encodeURIComponent(`${site.name}-`)}`)
    return new Map(found.map(({ name, number_employees }) => [name, { number_employees }]))
  },
}

const members: Kind = {
  name: 'member',
  // A person may invite a hundred others an hour, and has invited the officer.
  most: 90,
  create: ({ organization }, random, key) => {
    const role = random.pick(['viewer', 'security_officer'])
    return {
      state: { role },
      send: (client) => client('POST', `/organizations/${organization}/users/0`, { email: `${key}@example.com`, role }),
      id: ({ body }) => (body.data as { user: string }).user,
    }
  },
  edit: ({ organization }, random, { id, state }) => {
    const role = random.pick(['viewer', 'security_officer', 'owner'].filter((other) => other !== state?.role))
    return { state: { role }, send: (client) => client('PUT', `/organizations/${organization}/users/${id}`, { role }) }
  },
  remove:
    ({ organization }, { id }) =>
    (client) =>
      client('DELETE', `/organizations/${organization}/users/${id}`),
  async find(site) {
    type Found = { email: string; role: string }
    const found = await listAll<Found>(ownerOf(site), `/organizations/${site.organization}/users`)
    const own = found.filter(({ email }) => email.startsWith(`${site.name}-`))
    return new Map(own.map(({ email, role }) => [email.replace('@example.com', ''), { role }]))
  },
}

const blockers: Kind = {
  name: 'blocker',
  create: ({ organization }, random, key) => {
    const fields = {
      email: `soc${random.between(1, 1000)}@example.com`,
      services: random.pick([[], ['Service IPv4 Protection']]),
    }
    return {
      state: fields,
      send: (client) => client('POST', '/atb', { organization, device_id: key, type: 'series', ...fields }),
      id: ({ body }) => body.ticket as number,
    }
  },
  edit: (_site, random, { id, state }) => {
    const email = `desk${random.between(1, 1000)}@example.com`
    return { state: { ...state, email }, send: (client) => client('PUT', `/atb/${id}`, { email }) }
  },
  remove:
    (_site, { id }) =>
    (client) =>
      client('DELETE', `/atb/${id}`),
  async find(site) {
    type Found = { id: number; device_id: string; email: string; services: string[] }
    const found = await listAll<Found>(ownerOf(site), `/atb?organization=${site.organization}`)
    const own = found.filter(({ id }) => id !== site.blocker)
    return new Map(own.map(({ device_id, email, services }) => [device_id, { email, services }]))
  },
  notices: {
    create: (key) => `Threat blocker ${key} was set up.`,
    remove: (key) => `Threat blocker ${key} was removed.`,
  },
}

/** The day of all lines. */
export const TRAFFIC_DAY = '2026-03-01'

const uploads: Kind = {
  name: 'upload',
  create: ({ blocker }, random, key) => {
    // Now and then so large that it is still coming in when the fault comes.
    const lines = random.between(1, 40) === 1 ? 20_000 : random.between(1, 300)
    const malicious = random.between(0, lines)
    const from = Date.parse(`${TRAFFIC_DAY}T00:00:00Z`) + random.between(0, 60_000_000)
    const text = Array.from({ length: lines }, (_, index) =>
      json({
        time: new Date(from + index * 1000).toISOString(),
        client_ip: `203.0.113.${index % 250}`,
        path: `/${key}`,
        ...(index < malicious && { verdict: 'blocked' }),
      }),
    ).join('\n')
    const bytes = Buffer.from(text)
    const headers = {
      'Content-Type': 'application/x-ndjson',
      'Content-Disposition': `attachment; filename="${key}.log"`,
    }
    return {
      state: { sha256: sha256(bytes), size: bytes.length, lines, accepted: lines, malicious },
      send: (client) => client('POST', `/atb/${blocker}/traffic`, bytes, headers),
      id: ({ headers }) => headers.get('Location') ?? '',
    }
  },
  async find(site) {
    type Found = { id: number; file_name: string; sha256: string } & Record<string, number>
    const path = `/atb/${site.blocker}/traffic`
    const found = await listAll<Found>(ownerOf(site), path)
    for (const upload of found) {
      const { bytes } = await download(site, `/api/v1${path}/${upload.id}/raw`)
      if (sha256(bytes) !== upload.sha256) throw new Error(`${upload.file_name} has other bytes than were read`)
    }
    return new Map(
      found.map(({ file_name, sha256, size, lines, accepted, malicious }) => [
        file_name.replace('.log', ''),
        { sha256, size, lines, accepted, malicious },
      ]),
    )
  },
}

const profiles: Kind = {
  name: 'profile',
  create: ({ organization }, _random, key) => ({
    state: {},
    send: (client) => client('POST', '/vpn', { organization, email: `${key}@example.com` }),
    id: ({ body }) => body.vpn as number,
  }),
  remove:
    (_site, { id }) =>
    (client) =>
      client('DELETE', `/vpn/${id}`),
  async find(site) {
    const found = await listAll<{ email: string }>(ownerOf(site), `/vpn?organization=${site.organization}`)
    return new Map(found.map(({ email }) => [email.replace('@example.com', ''), {}]))
  },
  notices: { create: (key) => `A VPN profile for ${key}@example.com was created.` },
}

type FoundFramework = {
  id: number
  title: string
  security_frameworks: { id: string; evidences: { details: string; files: string[] }[] }[]
}

/** Controls as they are sent, each with so many pieces of evidence. */
function someControls(random: Random) {
  return Array.from({ length: random.between(1, 5) }, (_, control) => ({
    id: `A.${control + 1}`,
    title: `Control ${control + 1}`,
    evidences: Array.from({ length: random.between(0, 3) }, () => ({ details: `seen ${random.between(1, 10_000)}` })),
  }))
}

const evidenceOf = (controls: { id: string; evidences: { details: string }[] }[]) => ({
  controls: controls.map(({ id, evidences }) => `${id}: ${evidences.map(({ details }) => details)}`),
})

const frameworks: Kind = {
  name: 'framework',
  create: ({ organization }, random, key) => {
    const security_frameworks = someControls(random)
    const path = `/organizations/${organization}/security-frameworks`
    return {
      state: evidenceOf(security_frameworks),
      send: (client) => client('POST', path, { title: key, security_frameworks }),
      id: ({ body }) => (body.security_framework as { id: number }).id,
    }
  },
  edit: ({ organization }, random, { id }) => {
    const security_frameworks = someControls(random)
    const path = `/organizations/${organization}/security-frameworks/${id}`
    return {
      state: evidenceOf(security_frameworks),
      send: (client) => client('PUT', path, { security_frameworks }),
    }
  },
  remove:
    ({ organization }, { id }) =>
    (client) =>
      client('DELETE', `/organizations/${organization}/security-frameworks/${id}`),
  async find(site) {
    const found = await listAll<FoundFramework>(
      ownerOf(site),
      `/organizations/${site.organization}/security-frameworks`,
    )
    const own = found.filter(({ id }) => id !== site.framework)
    return new Map(own.map(({ title, security_frameworks }) => [title, evidenceOf(security_frameworks)]))
  },
  notices: { remove: (key) => `The security framework ${key} was removed.` },
}

/** The control that takes the documents. */
export const CONTROL = 'documents'

const documents: Kind = {
  name: 'document',
  create: ({ organization, framework }, random, key) => {
    const size = random.between(1, 20) === 1 ? 2_000_000 : random.between(1, 5000)
    const bytes = Buffer.alloc(size, random.bytes(61))
    const path = `/organizations/${organization}/security-frameworks/${framework}/documents/${CONTROL}`
    const headers = { 'Content-Type': 'text/plain', 'Content-Disposition': `attachment; filename="${key}.txt"` }
    return {
      state: { size, sha256: sha256(bytes) },
      send: (client) => client('POST', path, bytes, headers),
      id: ({ body }) => (body.data as { file_path: string }).file_path,
    }
  },
  async find(site) {
    const path = `/organizations/${site.organization}/security-frameworks/${site.framework}`
    const { body } = await ownerOf(site)('GET', path)
    const { evidences = [] } = (body.data as FoundFramework).security_frameworks[0] ?? {}
    const found = new Map<string, State>()
    for (const { files } of evidences) {
      for (const file of files) {
        const { name, bytes } = await download(site, file)
        const key = name.replace('.txt', '')
        if (found.has(key)) throw new Error(`${key} is attached twice`)
        found.set(key, { size: bytes.length, sha256: sha256(bytes) })
      }
    }
    return found
  },
  notices: { create: (key) => `${key}.txt was attached to control ${CONTROL}.` },
}

/** Every kind that has records of its own, each with one writer. */
export const KINDS: readonly Kind[] = [organizations, members, blockers, uploads, profiles, frameworks, documents]

/** The eighth writer marks notifications as read; their ids are their keys. */
export const marks = {
  name: 'notification',
  /** One that has not been read; undefined after a moment if there is none. */
  async next(site: Site): Promise<number | undefined> {
    const { status, body } = await officerOf(site)(
      'GET',
      `/notifications?read=false&organization=${site.organization}&limit=1`,
    )
    const [unread] = status === 200 ? (body.data as { id: number }[]) : []
    if (!unread) await sleep(10)
    return unread?.id
  },
}
