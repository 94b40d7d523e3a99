import { describe, expect, test } from 'vitest'
import { anAssessment, NO_ID } from '../contracts/builders.ts'
import { asksFor, aWorld, happened, refusedPaths, type World } from '../testing/world.ts'
import { importAssessments } from './import-assessments.ts'
import { listAssessments } from './list-assessments.ts'
import { readAssessment } from './read-assessment.ts'

async function store({ ports, organization }: World, part: object = {}): Promise<number> {
  return ports.transact(({ assessments }) => assessments.insert(anAssessment({ organization, ...part })))
}

describe('importing assessments', () => {
  test('takes in every record; what is left out is empty, and of now', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const least = { organization, score: 0, name: { en: 'Review', it: 'Revisione' } }
    const whole = {
      ...least,
      score: 100,
      created_at: '2026-01-01',
      description: { en: 'a', it: 'b' },
      interviewed_user: 'Ada',
    }
    expect(await importAssessments(ports, [least, whole])).toBe(2)
    expect((await listAssessments(ports, as.viewer, { order: 'id' })).data).toEqual([
      {
        id: expect.any(Number),
        created_at: '2026-03-01T12:00:00.000Z',
        score: 0,
        name: least.name,
        description: { en: '', it: '' },
      },
      {
        id: expect.any(Number),
        created_at: '2026-01-01T00:00:00.000Z',
        score: 100,
        name: least.name,
        description: whole.description,
      },
    ])
  })

  test('takes in all or nothing, and names each wrong record by its index', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const right = { organization, score: 1, name: { en: 'Review', it: 'Revisione' } }
    const wrong = [
      { ...right, score: 101 },
      right,
      { ...right, score: 1.5, name: { en: 'only' } },
      { organization: 'Acme', score: -1, name: 'Review', created_at: 'yesterday' },
    ]
    expect((await refusedPaths(importAssessments(ports, wrong))).toSorted()).toEqual([
      '0.score',
      '2.name.it',
      '2.score',
      '3.created_at',
      '3.name',
      '3.organization',
      '3.score',
    ])
    expect(await refusedPaths(importAssessments(ports, [right, right, { ...right, organization: NO_ID }]))).toEqual([
      '2.organization',
    ])
    expect((await listAssessments(ports, as.viewer)).total).toBe(0)
    expect(happened(world)).toEqual([])
  })
})

describe('reading an assessment', () => {
  asksFor(
    'assessment.read',
    store,
    ({ ports }, caller, id) => readAssessment(ports, caller, id),
    () => NO_ID,
  )
})

describe('listing assessments', () => {
  test.each<[object, number[]]>([
    [{}, [3, 2, 1]],
    [{ order: 'score' }, [1, 2, 3]],
    [{ created_from: '2026-01-02' }, [3, 2]],
    [{ created_to: '2026-01-02' }, [2, 1]],
    [{ created_to: '2026-01-02T23:00:00Z' }, [1]],
    [{ created_from: '2026-01-02', created_to: '2026-01-02' }, [2]],
    [{ created_from: '2026-01-03T01:00:00+01:00' }, [3]],
    [{ search: 'ROSSI' }, [2]],
    [{ search: 'acme' }, [3, 2, 1]],
    [{ search: 'other' }, []],
    [{ limit: 1, offset: 1 }, [2]],
    [{ organization: NO_ID }, []],
  ])('the filter %j leaves the scores %j', async (query, expected) => {
    const world = await aWorld()
    await store(world, { score: 1, created_at: '2026-01-01T12:00:00.000Z' })
    await store(world, { score: 2, created_at: '2026-01-02T23:59:59.999Z', interviewed_user: 'Ada Rossi' })
    await store(world, { score: 3, created_at: '2026-01-03T00:00:00.000Z' })
    const { data } = await listAssessments(world.ports, world.as.viewer, query)
    expect(data.map(({ score }) => score)).toEqual(expected)
    expect((await listAssessments(world.ports, world.stranger, query)).total).toBe(0)
  })

  test.each<[string, object]>([
    ['created_from', { created_from: '2026-02-30' }],
    ['created_to', { created_to: '' }],
    ['search', { search: 'x'.repeat(256) }],
    ['order', { order: 'name' }],
  ])('a wrong %s is refused', async (path, query) => {
    const { ports, as } = await aWorld()
    expect(await refusedPaths(listAssessments(ports, as.viewer, query))).toEqual([path])
  })

  test('the end of the last day that there is can be asked for', async () => {
    const { ports, as } = await aWorld()
    expect(await listAssessments(ports, as.viewer, { created_to: '9999-12-31' })).toEqual({ total: 0, data: [] })
  })
})
