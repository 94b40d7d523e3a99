import {
  addMember,
  createOrganization,
  createSecurityFramework,
  INVITATION_LIFETIME,
  listNotifications,
  registerUser,
} from '@security-management/domain'
import { anUpload } from '@security-management/domain/contracts'
import { type MemoryPorts, memoryPorts } from '@security-management/domain/memory'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { startDueEvidence } from '../src/due-evidence.ts'
import { startHousekeeping } from '../src/housekeeping.ts'
import { repeat } from '../src/repeat.ts'

/** For what takes a moment, and more than one on a machine that is busy. */
const PATIENT = { timeout: 10_000 }
const HOUR = 60 * 60 * 1000

function logInto(lines: object[]) {
  return pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) })
}

describe('work that comes back', () => {
  test('never runs twice at the same time, and runs again when it was woken meanwhile', async () => {
    let running = 0
    let most = 0
    let runs = 0
    const work = async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 10))
      running -= 1
      runs += 1
    }
    const loop = repeat(work, HOUR, () => {})
    loop.wake()
    loop.wake()
    await expect.poll(() => runs, PATIENT).toBe(2)
    await loop.stop()
    loop.wake()
    expect({ most, runs }).toEqual({ most: 1, runs: 2 })
  })

  test('goes on after a failure', async () => {
    const failures: unknown[] = []
    let runs = 0
    const work = async () => {
      runs += 1
      if (runs === 1) throw new Error('once')
    }
    const loop = repeat(work, 5, (error) => failures.push(error))
    await expect.poll(() => runs, PATIENT).toBeGreaterThan(1)
    await loop.stop()
    expect(failures).toEqual([new Error('once')])
  })
})

test('people are told of evidence that has fallen due', async () => {
  let now = new Date('2025-05-01T10:00:00.000Z')
  const ports = memoryPorts({ now: () => now })
  const { id } = await registerUser(ports, { email: 'anna@example.com' })
  const organization = await createOrganization(ports, { user: id }, { name: 'Acme' })
  const control = { id: 'A.8.13', title: 'Backup', frequency: '0 9 * * *' }
  await createSecurityFramework(ports, { user: id }, organization, { title: 'ISO', security_frameworks: [control] })
  now = new Date('2025-05-02T09:00:00.000Z')
  const lines: object[] = []
  const loop = startDueEvidence(ports, logInto(lines))
  await expect.poll(() => lines, PATIENT).toMatchObject([{ told: 1 }])
  await loop.stop()
  const { data } = await listNotifications(ports, { user: id }, { type: 'warning' })
  expect(data).toMatchObject([{ title: 'Evidence due' }])
})

describe('housekeeping', () => {
  async function* content() {
    yield Buffer.from('half')
  }

  async function clean(ports: MemoryPorts, days: number, lines: object[] = []): Promise<object[]> {
    await startHousekeeping({ TRAFFIC_RETENTION: days * 24 * HOUR }, ports, logInto(lines)).stop()
    return lines
  }

  test('erases what unfinished uploads left more than a day ago, and nothing younger', async () => {
    let now = new Date('2025-05-01T10:00:00.000Z')
    const ports = memoryPorts({ now: () => now })
    await ports.files.stage(content(), 100)
    now = new Date(now.getTime() + 25 * HOUR)
    await ports.files.stage(content(), 100)
    expect(await clean(ports, 30)).toMatchObject([{ erased: 1 }])
    expect(await clean(ports, 0)).toEqual([])
  })

  test('erases the bytes of traffic files once they were kept long enough, and not before', async () => {
    let now = new Date('2025-05-01T10:00:00.000Z')
    const ports = memoryPorts({ now: () => now })
    const { file, size } = await ports.files.stage(content(), 100)
    const upload = anUpload({ threat_blocker: 1, received: now.toISOString(), raw: { file, size } })
    const id = await ports.transact(({ traffic }) => traffic.insertUpload(upload))
    now = new Date(now.getTime() + 30 * 24 * HOUR)
    expect(await clean(ports, 30)).toEqual([])
    expect(await ports.traffic.findRaw(1, id ?? 0)).toEqual({ file, size })
    now = new Date(now.getTime() + 1)
    expect(await clean(ports, 30)).toMatchObject([{ erased: 1 }])
    expect(await ports.traffic.findRaw(1, id ?? 0)).toBeUndefined()
  })

  test('forgets the answers that are kept no longer, and the counts of limits', async () => {
    let now = new Date('2025-05-01T10:00:00.000Z')
    const ports = memoryPorts({ now: () => now })
    const count = () =>
      ports.transact(({ counters }) =>
        counters.add([{ name: 'a', start: Date.parse('2025-05-01T10:00:00Z'), count: 1 }]),
      )
    await ports.transact(async ({ answers }) => {
      await answers.claim('a', now.toISOString(), '')
      await answers.keep('a', Buffer.from('sealed'))
    })
    await count()
    now = new Date(now.getTime() + HOUR)
    await clean(ports, 30)
    expect(await count()).toMatchObject([{ count: 2 }])
    now = new Date(now.getTime() + 23 * HOUR)
    await clean(ports, 30)
    expect(await ports.answers.find('a', '')).toBeDefined()
    expect(await count()).toMatchObject([{ count: 1 }])
    now = new Date(now.getTime() + 1)
    await clean(ports, 30)
    expect(await ports.answers.find('a', '')).toBeUndefined()
  })

  test('forgets the codes of expired invitations of who is no member any more', async () => {
    let now = new Date('2025-05-01T10:00:00.000Z')
    const ports = memoryPorts({ now: () => now })
    const { id: owner } = await registerUser(ports, { email: 'anna@example.com' })
    const organization = await createOrganization(ports, { user: owner }, { name: 'Acme' })
    const path = { organization, user: '0' }
    const { user } = await addMember(ports, { user: owner }, path, { email: 'bob@example.com' })
    await ports.transact(({ members }) => members.remove(organization, user, now.toISOString()))
    now = new Date(now.getTime() + INVITATION_LIFETIME)
    await clean(ports, 30)
    const [removed] = await ports.removedRecords.list('member', { after: 0, limit: 1 })
    await ports.transact(({ removedRecords }) => removedRecords.restore('member', removed?.id ?? 0))
    expect(await ports.invitations.countOwed()).toBe(0)
  })

  test('that fails is logged, and stops nothing', async () => {
    const ports = memoryPorts()
    ports.files.sweep = async () => {
      throw new Error('the database is gone')
    }
    expect(await clean(ports, 30)).toMatchObject([{ level: 50, msg: 'erasing files that nothing needs failed' }])
  })
})
