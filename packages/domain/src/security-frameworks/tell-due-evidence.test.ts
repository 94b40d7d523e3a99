import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aControl, aFramework, anEvidence } from '../contracts/builders.ts'
import { removeOrganization } from '../organizations/remove-organization.ts'
import { aWorld, happened, type World } from '../testing/world.ts'
import { parseCron } from '../values.ts'
import { removeSecurityFramework } from './remove-security-framework.ts'
import { nextTime, tellDueEvidence } from './tell-due-evidence.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

function next(expression: string, after: string): string | undefined {
  const cron = parseCron(expression)
  return cron && nextTime(cron, new Date(after))?.toISOString()
}

describe('the next time of a schedule', () => {
  test.each([
    ['* * * * *', '2026-03-01T12:00:00.000Z', '2026-03-01T12:01:00.000Z'],
    ['* * * * *', '2026-03-01T11:59:59.999Z', '2026-03-01T12:00:00.000Z'],
    ['0 0 * * *', '2026-03-01T12:00:00.000Z', '2026-03-02T00:00:00.000Z'],
    ['0 0 * * *', '2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z'],
    ['59 23 31 12 *', '2026-03-01T12:00:00.000Z', '2026-12-31T23:59:00.000Z'],
    ['0 0 31 * *', '2026-04-01T00:00:00.000Z', '2026-05-31T00:00:00.000Z'],
    ['0 0 29 2 *', '2026-03-01T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
    ['0 0 29 2 *', '2096-03-01T00:00:00.000Z', '2104-02-29T00:00:00.000Z'],
    ['0 9 * * mon-fri', '2026-02-27T09:00:00.000Z', '2026-03-02T09:00:00.000Z'],
    ['0 0 * * 7', '2026-02-28T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ['0 0 * * 0', '2026-02-28T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    // Either day field may fit where both are restricted: 13 March is a Friday anyway, the Friday before comes first.
    ['0 0 13 * fri', '2026-03-01T00:00:00.000Z', '2026-03-06T00:00:00.000Z'],
    ['0 0 3 * fri', '2026-03-01T00:00:00.000Z', '2026-03-03T00:00:00.000Z'],
    ['30 6 * * *', '1969-12-31T23:00:00.000Z', '1970-01-01T06:30:00.000Z'],
  ])('%j after %s is %s', (expression, after, expected) => {
    expect(next(expression, after)).toBe(expected)
  })

  test('a day that never comes has none', () => {
    expect(next('0 0 31 2 *', '2026-03-01T00:00:00.000Z')).toBeUndefined()
    expect(next('0 0 30 2 *', '2026-03-01T00:00:00.000Z')).toBeUndefined()
  })

  test('is found within a few steps, or found never to come', () => {
    for (const expression of ['0 0 31 2 *', '0 0 30,31 2 *', '0 0 31 2,4,6,9,11 *', '0 0 29 2 *', '0 0 1 1 *']) {
      let steps = 0
      class Counted extends Set<number> {
        override has(value: number) {
          steps += 1
          return super.has(value)
        }
      }
      const cron = parseCron(expression)
      if (!cron) throw new Error(expression)
      nextTime({ ...cron, months: new Counted(cron.months) }, new Date('2096-03-01T00:00:00.000Z'))
      expect(steps).toBeLessThan(500)
    }
  })

  test('is the first that fits of all the days of eight years', () => {
    const some = (values: number[]) =>
      fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 2 }).map((found) => found.join(','))
    const days = fc.oneof(some([1, 28, 29, 30, 31]), fc.constantFrom('*', '*/15', '*/28', '*/30', '29-31'))
    const months = fc.oneof(
      some(Array.from({ length: 12 }, (_, index) => index + 1)),
      some([2, 4]),
      fc.constantFrom('*', '2'),
    )
    const weekdays = fc.oneof(fc.constant('*'), some([0, 1, 6, 7]), fc.constant('*/6'))
    const times = fc.date({ min: new Date('1960-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(days, months, weekdays, times, (day, month, weekday, after) => {
        const expression = `0 0 ${day} ${month} ${weekday}`
        const cron = parseCron(expression)
        const first = Math.floor(after.getTime() / DAY) * DAY + DAY
        const end = Math.floor(after.getTime() / MINUTE) * MINUTE + MINUTE + 8 * 366 * DAY
        let expected: Date | undefined
        for (let time = first; time < end && !expected; time += DAY) {
          if (fits(expression, new Date(time))) expected = new Date(time)
        }
        expect(cron && nextTime(cron, after)).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })

  // Reads the expression anew for every minute, in the plainest way.
  function fits(expression: string, date: Date): boolean {
    const [minute = '', hour = '', day = '', month = '', weekday = ''] = expression.split(' ')
    const fieldFits = (field: string, value: number, lowest: number) =>
      field.split(',').some((part) => {
        const [span = '', step = '1'] = part.split('/')
        const [from = '', to = from] = span === '*' ? [String(lowest), '99'] : span.split('-')
        const end = part.includes('/') && !span.includes('-') ? 99 : Number(to)
        return value >= Number(from) && value <= end && (value - Number(from)) % Number(step) === 0
      })
    const dayFits = fieldFits(day, date.getUTCDate(), 1)
    const weekdayFits = [date.getUTCDay(), date.getUTCDay() === 0 ? 7 : -1].some((value) =>
      fieldFits(weekday, value, 0),
    )
    const isEither = !day.startsWith('*') && !weekday.startsWith('*')
    return (
      fieldFits(minute, date.getUTCMinutes(), 0) &&
      fieldFits(hour, date.getUTCHours(), 0) &&
      fieldFits(month, date.getUTCMonth() + 1, 1) &&
      (isEither ? dayFits || weekdayFits : dayFits && weekdayFits)
    )
  }

  test('is the first that fits of all the minutes that follow', () => {
    const field = (from: number, to: number) => {
      const value = fc.integer({ min: from, max: to })
      const part = fc.oneof(
        { weight: 3, arbitrary: fc.constant('*') },
        value.map(String),
        fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
        fc
          .tuple(fc.constantFrom('*', String(from)), fc.integer({ min: 1, max: 20 }))
          .map(([span, step]) => `${span}/${step}`),
        fc
          .tuple(value, value, fc.integer({ min: 1, max: 5 }))
          .map(([a, b, step]) => `${Math.min(a, b)}-${Math.max(a, b)}/${step}`),
      )
      return fc.array(part, { minLength: 1, maxLength: 2 }).map((parts) => parts.join(','))
    }
    const expressions = fc
      .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7))
      .map((parts) => parts.join(' '))
    const times = fc.date({ min: new Date('1960-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    const LOOKED_AT = 3 * DAY
    fc.assert(
      fc.property(expressions, times, (expression, after) => {
        const cron = parseCron(expression)
        expect(cron).toBeDefined()
        const found = cron && nextTime(cron, after)
        const first = Math.floor(after.getTime() / MINUTE) * MINUTE + MINUTE
        let expected: Date | undefined
        for (let time = first; time < first + LOOKED_AT && !expected; time += MINUTE) {
          if (fits(expression, new Date(time))) expected = new Date(time)
        }
        if (expected) expect(found).toEqual(expected)
        else if (found) {
          expect(found.getTime()).toBeGreaterThanOrEqual(first + LOOKED_AT)
          expect(fits(expression, found)).toBe(true)
        }
      }),
      { numRuns: 40 },
    )
  })
})

describe('telling of evidence that is due', () => {
  async function store({ ports, organization }: World, ...controls: Parameters<typeof aControl>[0][]): Promise<number> {
    const security_frameworks = controls.map((control, index) => aControl({ id: `c${index}`, ...control }))
    return ports.transact((stores) =>
      stores.securityFrameworks.insert(aFramework({ organization, security_frameworks })),
    )
  }
  function told(world: World): unknown[] {
    return happened(world, 'evidence.due').map(({ details }) => `${details.control} at ${details.due}`)
  }

  test('happens once, when the first time after the creation has come', async () => {
    const world = await aWorld()
    const framework = await store(world, { frequency: '0 18 * * *' })
    world.clock.now = '2026-03-01T17:59:59.999Z'
    expect(await tellDueEvidence(world.ports)).toBe(0)
    world.clock.now = '2026-03-01T18:00:00.000Z'
    expect(await tellDueEvidence(world.ports)).toBe(1)
    expect(await tellDueEvidence(world.ports)).toBe(0)
    expect(happened(world, 'evidence.due')).toMatchObject([
      {
        organization: world.organization,
        record: String(framework),
        user_id: null,
        details: { control: 'c0', title: 'ISO 27001', due: '2026-03-01T18:00:00.000Z' },
      },
    ])
  })

  test('counts from the last completed evidence', async () => {
    const world = await aWorld()
    const framework = await store(world, { frequency: '0 0 1 * *' })
    const complete = (datetime: string, completed = 1) =>
      world.ports.transact((stores) =>
        stores.securityFrameworks.setEvidences(framework, 'c0', [anEvidence({ datetime, completed })]),
      )
    world.clock.now = '2026-04-02T00:00:00.000Z'
    await tellDueEvidence(world.ports)
    await complete('2026-04-02T00:00:00.000Z', 0)
    expect(await tellDueEvidence(world.ports)).toBe(0)
    await complete('2026-04-02T00:00:00.000Z')
    expect(await tellDueEvidence(world.ports)).toBe(0)
    world.clock.now = '2026-05-01T00:00:00.000Z'
    expect(await tellDueEvidence(world.ports)).toBe(1)
    expect(told(world)).toEqual(['c0 at 2026-04-01T00:00:00.000Z', 'c0 at 2026-05-01T00:00:00.000Z'])
  })

  test('happens once, however many processes look at once', async () => {
    const world = await aWorld()
    await store(world, { frequency: '0 0 * * *' }, { frequency: '0 0 * * *' }, { frequency: '' })
    world.clock.now = '2026-03-02T00:00:00.000Z'
    const counts = await Promise.all(Array.from({ length: 10 }, () => tellDueEvidence(world.ports)))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2)
    expect(told(world)).toHaveLength(2)
  })

  test('reaches all of more controls than one page has', async () => {
    const world = await aWorld()
    await store(world, ...Array.from({ length: 501 }, () => ({ frequency: '0 0 * * *' })))
    world.clock.now = '2026-03-02T00:00:00.000Z'
    expect(await tellDueEvidence(world.ports)).toBe(501)
  })

  test('holds up nobody while nothing is due: no unit is begun, and others get their turn', async () => {
    const world = await aWorld()
    await store(world, ...Array.from({ length: 501 }, () => ({ frequency: '0 0 * * *' })))
    let turns = 0
    const ports = {
      ...world.ports,
      transact: () => Promise.reject(new Error('A unit was begun')),
      nextTurn: async () => {
        turns += 1
      },
    }
    expect(await tellDueEvidence(ports)).toBe(0)
    expect(turns).toBeGreaterThanOrEqual(10)
  })

  test('leaves out removed frameworks and organizations, and days that never come', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const removed = await store(world, { frequency: '0 0 * * *' })
    await removeSecurityFramework(ports, as.owner, { organization, framework: removed })
    await store(world, { frequency: '0 0 31 2 *' })
    world.clock.now = '2026-03-02T00:00:00.000Z'
    expect(await tellDueEvidence(ports)).toBe(0)
    await store(world, { frequency: '0 0 * * *' })
    await removeOrganization(ports, as.owner, organization)
    expect(await tellDueEvidence(ports)).toBe(0)
  })
})
