import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { anUpload, NO_ID } from '../contracts/builders.ts'
import { asksFor, aWorld, expectRefused, happened, refusedPaths, type World } from '../testing/world.ts'
import { createThreatBlocker } from '../threat-blockers/create-threat-blocker.ts'
import { readThreatBlocker } from '../threat-blockers/read-threat-blocker.ts'
import { removeThreatBlocker } from '../threat-blockers/remove-threat-blocker.ts'
import { listTrafficUploads, readTrafficUpload } from './read-traffic-upload.ts'
import { uploadTraffic } from './upload-traffic.ts'

async function create({ ports, as, organization }: World): Promise<number> {
  const services = ['Service IPv4 Protection']
  const fields = { organization, device_id: 'dev-1', email: 'soc@acme.example', type: 'series', services }
  return createThreatBlocker(ports, as.owner, fields)
}

async function* inPieces(text: string, size = 16): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
}

function aFile(content: unknown, file_name = 'access.json') {
  return { file_name, content: inPieces(typeof content === 'string' ? content : JSON.stringify(content)) }
}

const LINES = [
  { timestamp: '2026-02-28T10:00:00Z', verdict: 'allowed' },
  { timestamp: '2026-02-28T10:59:59Z', verdict: 'blocked' },
  { timestamp: '2026-02-28T12:30:00Z' },
  { timestamp: '2026-02-27T23:00:00Z', verdict: 'denied' },
  { timestamp: 'never' },
  42,
]

describe('uploading traffic', () => {
  asksFor(
    'traffic.upload',
    create,
    ({ ports }, caller, id) => uploadTraffic(ports, caller, id, aFile(LINES)),
    () => NO_ID,
  )

  test('counts its requests by the hour, and says what was made of the file', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const id = await create(world)
    const text = JSON.stringify(LINES)
    const answer = await uploadTraffic(ports, as.security_officer, id, aFile(LINES, '../été.json'))
    expect(answer.threat_blocker).toBe(id)
    const sha256 = createHash('sha256').update(text).digest('hex')
    const made = { file_name: 'été.json', sha256, lines: 6, accepted: 4, rejected: 2, malicious: 2 }
    expect(await readTrafficUpload(ports, as.viewer, id, answer.upload)).toEqual({
      id: answer.upload,
      ...made,
      found_later: 0,
      size: Buffer.byteLength(text),
      received: '2026-03-01T12:00:00.000Z',
      from: '2026-02-27T23:00:00.000Z',
      to: '2026-02-28T12:30:00.000Z',
      format: 'array',
      rejects: [
        { line: 5, field: 'time', reason: 'not a time' },
        { line: 6, field: '', reason: 'neither a text nor an object' },
      ],
    })
    const { check } = await readThreatBlocker(ports, as.viewer, id)
    expect(check.status).toBe(1)
    expect(check.stat.datetime).toBe('2026-03-01T12:00:00.000Z')
    expect(check.web_stat).toEqual([
      { datetime: '2026-02-27T00:00:00.000Z', waf_protection: 100, total_managed_requests: 1 },
      { datetime: '2026-02-28T00:00:00.000Z', waf_protection: 33.33, total_managed_requests: 3 },
    ])
    expect(check.chart_stat.filter(({ total_requests }) => total_requests > 0)).toEqual(
      [
        ['2026-02-27T23:00:00Z', 1, 1],
        ['2026-02-28T10:00:00Z', 2, 1],
        ['2026-02-28T12:00:00Z', 1, 0],
      ].map(([start, total_requests, malicious_requests]) => {
        const bucket_start = Date.parse(String(start)) / 1000
        return { bucket_start, bucket_end: bucket_start + 3600, total_requests, malicious_requests }
      }),
    )
    expect(happened(world, 'traffic.uploaded')).toMatchObject([
      { organization, record: String(answer.upload), details: { threat_blocker: id, device_id: 'dev-1', ...made } },
    ])
  })

  test('several files add up', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const id = await create(world)
    for (const verdict of ['allowed', 'blocked']) {
      await uploadTraffic(ports, as.owner, id, aFile([{ timestamp: '2026-02-28T10:00:00Z', verdict }]))
    }
    const { check } = await readThreatBlocker(ports, as.viewer, id)
    expect(check.chart_stat.at(-1)).toMatchObject({ total_requests: 2, malicious_requests: 1 })
  })

  test('the same bytes count once for a blocker, whatever their name', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const [id, other] = [await create(world), await create(world)]
    const first = await uploadTraffic(ports, as.owner, id, aFile(LINES, 'a.json'))
    expect(await uploadTraffic(ports, as.owner, id, aFile(LINES, 'b.json'))).toEqual(first)
    expect((await uploadTraffic(ports, as.owner, other, aFile(LINES))).upload).not.toBe(first.upload)
    expect((await listTrafficUploads(ports, as.owner, id)).total).toBe(1)
    const { check } = await readThreatBlocker(ports, as.owner, id)
    expect(check.web_stat.map((day) => day.total_managed_requests)).toEqual([1, 3])
    expect(happened(world, 'traffic.uploaded')).toHaveLength(2)
  })

  test('ten times the same file at once counts once', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const id = await create(world)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => uploadTraffic(ports, as.owner, id, aFile(LINES))),
    )
    expect(new Set(answers.map(({ upload }) => upload)).size).toBe(1)
    const { check } = await readThreatBlocker(ports, as.owner, id)
    expect(check.web_stat.map((day) => day.total_managed_requests)).toEqual([1, 3])
  })

  test('a file of no lines, or of none that can be read, is taken in', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const id = await create(world)
    const empty = await uploadTraffic(ports, as.owner, id, aFile('[]'))
    const unreadable = await uploadTraffic(ports, as.owner, id, aFile([1, 'x']))
    expect(await readTrafficUpload(ports, as.owner, id, empty.upload)).toMatchObject({
      lines: 0,
      accepted: 0,
      rejected: 0,
    })
    expect(await readTrafficUpload(ports, as.owner, id, unreadable.upload)).toMatchObject({ lines: 2, rejected: 2 })
    expect((await readThreatBlocker(ports, as.owner, id)).check).toMatchObject({
      status: 1,
      chart_stat: [],
      web_stat: [],
    })
  })

  test('requests of the distant past and future have their hours', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const id = await create(world)
    await uploadTraffic(
      ports,
      as.owner,
      id,
      aFile([{ ts: '1969-12-31T23:30:00Z' }, { ts: '1969-12-31T22:59:59.999Z' }]),
    )
    const { check } = await readThreatBlocker(ports, as.owner, id)
    expect(check.chart_stat.slice(-2)).toMatchObject([
      { bucket_start: -7200, total_requests: 1 },
      { bucket_start: -3600, bucket_end: 0, total_requests: 1 },
    ])
    expect(check.web_stat.map(({ datetime }) => datetime)).toEqual(['1969-12-31T00:00:00.000Z'])
  })

  test('a malformed file changes nothing, not even by the lines before the fault', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const id = await create(world)
    const before = world.ports.published.length
    for (const file of ['', 'null', `[${JSON.stringify(LINES[0])},`, '{"lines":[1]', 'hello']) {
      expect(await refusedPaths(uploadTraffic(ports, as.owner, id, aFile(file)))).toEqual([''])
    }
    expect(world.ports.published.length).toBe(before)
    expect((await listTrafficUploads(ports, as.owner, id)).total).toBe(0)
    expect((await readThreatBlocker(ports, as.owner, id)).check).toMatchObject({ status: 0, chart_stat: [] })
  })

  test('a file that is too large, or breaks off, changes nothing', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const id = await create(world)
    const text = JSON.stringify(LINES)
    await expectRefused(world, 'too_large', () => uploadTraffic(ports, as.owner, id, aFile(text), text.length - 1))
    async function* breaking() {
      yield Buffer.from('[{"ts":1431857103}')
      throw new Error('connection reset')
    }
    const broken = uploadTraffic(ports, as.owner, id, { file_name: 'a', content: breaking() })
    await expect(broken).rejects.toThrow('connection reset')
    expect((await listTrafficUploads(ports, as.owner, id)).total).toBe(0)
    await expect(uploadTraffic(ports, as.owner, id, aFile(text), text.length)).resolves.toBeDefined()
  })

  test('who may not upload is refused before a byte is read', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const id = await create(world)
    let wasRead = false
    async function* content() {
      wasRead = true
      yield Buffer.from('[]')
    }
    await expectRefused(world, 'forbidden', () =>
      uploadTraffic(ports, as.viewer, id, { file_name: 'a', content: content() }),
    )
    expect(wasRead).toBe(false)
  })

  test('a blocker that is removed, or a right that ends, while the file comes in, stops it', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const [removed, kept] = [await create(world), await create(world)]
    async function* removing() {
      yield Buffer.from('[{"ts":1431857103}')
      await removeThreatBlocker(ports, as.owner, removed)
      yield Buffer.from(']')
    }
    await expect(
      uploadTraffic(ports, as.owner, removed, { file_name: 'a', content: removing() }),
    ).rejects.toMatchObject({ code: 'not_found' })
    async function* demoting() {
      yield Buffer.from('[{"ts":1431857103}')
      await ports.transact(({ members }) => members.setRole(organization, as.security_officer.user, 'viewer'))
      yield Buffer.from(']')
    }
    await expect(
      uploadTraffic(ports, as.security_officer, kept, { file_name: 'a', content: demoting() }),
    ).rejects.toMatchObject({ code: 'forbidden' })
    expect(happened(world, 'traffic.uploaded')).toEqual([])
  })

  test('a file needs a name', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const id = await create(world)
    expect(await refusedPaths(uploadTraffic(ports, as.owner, id, aFile(LINES, '')))).toEqual([''])
  })
})

describe('reading what was made of an upload', () => {
  async function upload(world: World) {
    const threat_blocker = await create(world)
    const id = await world.ports.transact(({ traffic }) =>
      traffic.insertUpload(anUpload({ threat_blocker, file_name: 'a.json' })),
    )
    return { threat_blocker, id: id ?? 0 }
  }

  asksFor(
    'traffic.read',
    upload,
    ({ ports }, caller, { threat_blocker, id }) => readTrafficUpload(ports, caller, threat_blocker, id),
    () => ({ threat_blocker: NO_ID, id: 1 }),
  )

  describe('in a list', () => {
    asksFor(
      'traffic.read',
      upload,
      ({ ports }, caller, { threat_blocker }) => listTrafficUploads(ports, caller, threat_blocker),
      () => ({ threat_blocker: NO_ID, id: 1 }),
    )
  })

  test('an upload belongs to its own blocker', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const { threat_blocker, id } = await upload(world)
    const other = await create(world)
    expect(await readTrafficUpload(ports, as.viewer, threat_blocker, id)).toMatchObject({ id, file_name: 'a.json' })
    expect((await listTrafficUploads(ports, as.viewer, threat_blocker)).data.map((found) => found.id)).toEqual([id])
    await expectRefused(world, 'not_found', () => readTrafficUpload(ports, as.viewer, other, id))
    await expectRefused(world, 'not_found', () => readTrafficUpload(ports, as.viewer, threat_blocker, NO_ID))
    expect(await refusedPaths(listTrafficUploads(ports, as.viewer, threat_blocker, { order: 'size' }))).toEqual([
      'order',
    ])
  })
})
