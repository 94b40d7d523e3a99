import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aControl, aFramework, anEvidence, NO_ID, ODD_FREE_TEXT, ODD_JSON, ODD_TEXT } from '../contracts/builders.ts'
import { systemSurroundings } from '../memory/surroundings.ts'
import {
  asksFor,
  asksForOnOrganization,
  aWorld,
  expectRefused,
  happened,
  refusedPaths,
  type World,
} from '../testing/world.ts'
import { attachEvidence } from './attach-evidence.ts'
import { createSecurityFramework } from './create-security-framework.ts'
import { editSecurityFramework } from './edit-security-framework.ts'
import { mergeControls } from './evidence.ts'
import { permitSecurityFramework, type SecurityFrameworkPath } from './find-security-framework.ts'
import { listSecurityFrameworks } from './list-security-frameworks.ts'
import { readSecurityFramework } from './read-security-framework.ts'
import { removeSecurityFramework } from './remove-security-framework.ts'
import { MAX_CONTROLS_BYTES } from './security-framework.ts'

/** Creates a framework as an owner and names it. */
async function create({ ports, as, organization }: World, controls: object[] = []): Promise<SecurityFrameworkPath> {
  const input = { title: 'ISO 27001', security_frameworks: controls }
  const { id } = await createSecurityFramework(ports, as.owner, organization, input)
  return { organization, framework: id }
}

function missing({ organization }: World): SecurityFrameworkPath {
  return { organization, framework: NO_ID }
}

const EMPTY_CONTROL = {
  type: 'control',
  weight: 0,
  details: {},
  evidences: [],
  frequency: '',
  description: '',
  evidence_type: 'self',
}

describe('creating a security framework', () => {
  asksForOnOrganization('security_framework.create', ({ ports }, caller, organization) =>
    createSecurityFramework(ports, caller, organization, { title: 'ISO 27001' }),
  )

  test('takes a title and controls; what a control leaves out is empty', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const input = { title: ` ${ODD_TEXT} `, security_frameworks: [{ id: 'A/1', title: ' Policies ' }], id: 99 }
    const framework = await createSecurityFramework(ports, as.security_officer, organization, input)
    expect(framework).toEqual({
      id: expect.any(Number),
      title: ODD_TEXT.trim(),
      security_frameworks: [{ ...EMPTY_CONTROL, id: 'A/1', title: 'Policies' }],
    })
    expect(await readSecurityFramework(ports, as.viewer, { organization, framework: framework.id })).toEqual(framework)
    expect(happened(world)).toMatchObject([
      { type: 'security_framework.created', organization, record: String(framework.id), details: { controls: 1 } },
    ])
  })

  test('stamps the evidence that comes with it', async () => {
    const { ports, as, organization } = await aWorld()
    const evidences = [{ ...anEvidence({ datetime: '2020-01-01T00:00:00.000Z' }) }, {}]
    const { security_frameworks } = await createSecurityFramework(ports, as.owner, organization, {
      title: 'ISO',
      security_frameworks: [{ id: 'a', title: 'A', evidences }],
    })
    const user = await ports.users.find(as.owner.user)
    const stamp = {
      datetime: '2026-03-01T12:00:00.000Z',
      submitted_by: { user_id: user?.id, user_email: user?.email },
    }
    expect(security_frameworks[0]?.evidences).toEqual([
      { files: [], details: 'checked', completed: 1, residual_risk: 0.25, ...stamp },
      { files: [], details: '', completed: 0, residual_risk: 0, ...stamp },
    ])
  })

  test('names every field that does not fit, and creates nothing', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const wrong = {
      security_frameworks: [
        { id: 'a', title: 'A', weight: -1, frequency: 'daily', evidence_type: 'guess', details: [] },
        { id: '..', title: '', evidences: [{ completed: -1, residual_risk: 'high', files: '/etc' }] },
        'control',
      ],
    }
    expect((await refusedPaths(createSecurityFramework(ports, as.owner, organization, wrong))).toSorted()).toEqual([
      'security_frameworks.0.details',
      'security_frameworks.0.evidence_type',
      'security_frameworks.0.frequency',
      'security_frameworks.0.weight',
      'security_frameworks.1.evidences.0.completed',
      'security_frameworks.1.evidences.0.files',
      'security_frameworks.1.evidences.0.residual_risk',
      'security_frameworks.1.id',
      'security_frameworks.1.title',
      'security_frameworks.2',
      'title',
    ])
    expect((await listSecurityFrameworks(ports, as.viewer, organization)).total).toBe(0)
    expect(happened(world)).toEqual([])
  })

  test('a control id occurs once', async () => {
    const { ports, as, organization } = await aWorld()
    const security_frameworks = ['a', 'b', 'a', 'A', 'b'].map((id) => ({ id, title: 'x' }))
    expect(
      await refusedPaths(createSecurityFramework(ports, as.owner, organization, { title: 'x', security_frameworks })),
    ).toEqual(['security_frameworks.2.id', 'security_frameworks.4.id'])
  })

  test.each([
    ['A.5.1'],
    ['A/5/1'],
    ['...'],
    ['é 🛡️ %2F ?#'],
    ['__proto__'],
    ['constructor'],
    ['x'.repeat(64)],
    ['🛡'.repeat(64)],
  ])('a control may be called %j, and be edited', async (id) => {
    const world = await aWorld()
    const { ports, as } = world
    const path = await create(world, [{ id, title: 'x' }])
    const edit = { security_frameworks: [{ id, title: 'y' }] }
    const { security_frameworks } = await editSecurityFramework(ports, as.owner, path, edit)
    expect(security_frameworks).toEqual([{ ...EMPTY_CONTROL, id, title: 'y' }])
    expect(Object.keys(happened(world, 'security_framework.edited')[0]?.changes ?? {})).toEqual([`control:${id}`])
  })

  test.each<[unknown]>([
    [''],
    ['.'],
    ['..'],
    ['x'.repeat(65)],
    ['🛡'.repeat(65)],
    ['a\nb'],
    ['a\u200Fb'],
    ['\uD800'],
    [1],
    [null],
  ])('a control may not be called %j', async (id) => {
    const { ports, as, organization } = await aWorld()
    const input = { title: 'x', security_frameworks: [{ id, title: 'x' }] }
    expect(await refusedPaths(createSecurityFramework(ports, as.owner, organization, input))).toEqual([
      'security_frameworks.0.id',
    ])
  })

  test('ten thousand pieces of evidence are the most that a control has', async () => {
    const { ports, as, organization } = await aWorld()
    const input = (count: number) => ({
      title: 'x',
      security_frameworks: [{ id: 'a', title: 'A', evidences: Array.from({ length: count }, () => ({})) }],
    })
    expect(await refusedPaths(createSecurityFramework(ports, as.owner, organization, input(10_001)))).toEqual([
      'security_frameworks.0.evidences',
    ])
    await expect(createSecurityFramework(ports, as.owner, organization, input(10_000))).resolves.toBeDefined()
  })

  test('twenty thousand pieces of evidence are looked at before the unit of work, and hold up nobody', async () => {
    const { ports, as, organization } = await aWorld()
    let turns = 0
    const atUnits: number[] = []
    const counting: typeof ports = {
      ...ports,
      nextTurn() {
        turns += 1
        return ports.nextTurn()
      },
      transact(work) {
        atUnits.push(turns)
        return ports.transact(work)
      },
    }
    const evidences = Array.from({ length: 100 }, () => ({ files: ['/a'] }))
    const security_frameworks = Array.from({ length: 200 }, (_, id) => ({ id: `${id}`, title: 'A', evidences }))
    const { id } = await createSecurityFramework(counting, as.owner, organization, { title: 'x', security_frameworks })
    // A turn for each thousand entries and files that are checked, and that are merged.
    expect(atUnits).toEqual([40])
    expect(turns).toBeGreaterThanOrEqual(80)
    turns = 0
    await editSecurityFramework(counting, as.owner, { organization, framework: id }, { security_frameworks })
    expect(atUnits).toEqual([40, 40])
    // Here what is stored is put in order as well, and compared with what becomes of it.
    expect(turns).toBeGreaterThanOrEqual(40 + 80 + 20)
  })

  test('who may not create a framework is told so, whatever they sent', async () => {
    const { ports, as, organization } = await aWorld()
    const attempt = createSecurityFramework(ports, as.viewer, organization, { title: 1 })
    await expect(attempt).rejects.toMatchObject({ code: 'forbidden' })
  })

  test('a hundred thousand pieces of evidence are the most that can be sent at once', async () => {
    const { ports, as, organization } = await aWorld()
    const evidences = Array.from({ length: 10_000 }, () => ({}))
    const security_frameworks = Array.from({ length: 11 }, (_, index) => ({ id: `${index}`, title: 'A', evidences }))
    const input = { title: 'x', security_frameworks }
    expect(await refusedPaths(createSecurityFramework(ports, as.owner, organization, input))).toEqual([
      'security_frameworks',
    ])
  })
})

describe('reading a security framework', () => {
  asksFor(
    'security_framework.read',
    create,
    ({ ports }, caller, path) => readSecurityFramework(ports, caller, path),
    missing,
  )

  test('it is found in its own organization alone', async () => {
    const world = await aWorld()
    const { ports, as, stranger } = world
    const { framework } = await create(world)
    const other = (await ports.members.organizationsOf(stranger.user, ['owner']))[0] ?? 0
    const path = { organization: other, framework }
    await expectRefused(world, 'not_found', () => readSecurityFramework(ports, stranger, path))
    await expectRefused(world, 'not_found', () => readSecurityFramework(ports, as.owner, path))
  })
})

describe('listing security frameworks', () => {
  asksForOnOrganization('security_framework.read', ({ ports }, caller, organization) =>
    listSecurityFrameworks(ports, caller, organization),
  )

  test('shows the newest first', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const ids = [(await create(world)).framework, (await create(world)).framework]
    const { total, data } = await listSecurityFrameworks(ports, as.viewer, organization)
    expect([total, ...data.map(({ id }) => id)]).toEqual([2, ...ids.toReversed()])
    expect(await refusedPaths(listSecurityFrameworks(ports, as.viewer, organization, { order: 'weight' }))).toEqual([
      'order',
    ])
  })
})

describe('editing a security framework', () => {
  asksFor(
    'security_framework.edit',
    create,
    ({ ports }, caller, path) => editSecurityFramework(ports, caller, path, { title: 'New' }),
    missing,
  )

  describe('before the body is read', () => {
    asksFor(
      'security_framework.edit',
      create,
      async ({ ports }, caller, path) => {
        await permitSecurityFramework(ports, caller, path, 'security_framework.edit')
        return 'permitted'
      },
      missing,
    )
  })

  test('replaces what is named and leaves the rest', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const path = await create(world, [{ id: 'a', title: 'A' }])
    const before = await readSecurityFramework(ports, as.owner, path)
    expect(await editSecurityFramework(ports, as.owner, path, { title: 'New' })).toEqual({ ...before, title: 'New' })
    const control = {
      id: 'b',
      type: ODD_TEXT.trim(),
      title: 'B',
      weight: 2.5,
      details: ODD_JSON,
      frequency: '0 0 1 * *',
      description: ODD_FREE_TEXT,
      evidence_type: 'automated',
      evidences: [],
    }
    const after = await editSecurityFramework(ports, as.security_officer, path, { security_frameworks: [control] })
    expect(after).toEqual({ id: before.id, title: 'New', security_frameworks: [control] })
    expect(await readSecurityFramework(ports, as.viewer, path)).toEqual(after)
    expect(happened(world, 'security_framework.edited').map(({ changes }) => changes)).toEqual([
      { title: ['ISO 27001', 'New'] },
      { 'control:b': [null, control], 'control:a': [{ ...EMPTY_CONTROL, id: 'a', title: 'A' }, null] },
    ])
  })

  test('an empty edit changes nothing', async () => {
    const world = await aWorld()
    const path = await create(world, [{ id: 'a', title: 'A', evidences: [{}] }])
    const before = await readSecurityFramework(world.ports, world.as.owner, path)
    expect(await editSecurityFramework(world.ports, world.as.owner, path, {})).toEqual(before)
  })

  test('a wrong edit changes nothing', async () => {
    const world = await aWorld()
    const path = await create(world, [{ id: 'a', title: 'A' }])
    const before = await readSecurityFramework(world.ports, world.as.owner, path)
    const edit = { title: 'New', security_frameworks: [{ id: 'a' }] }
    expect(await refusedPaths(editSecurityFramework(world.ports, world.as.owner, path, edit))).toEqual([
      'security_frameworks.0.title',
    ])
    expect(await refusedPaths(editSecurityFramework(world.ports, world.as.owner, path, []))).toEqual([''])
    expect(await readSecurityFramework(world.ports, world.as.owner, path)).toEqual(before)
  })

  test('evidence that is sent back as it was read keeps its time and author; new evidence has the caller’s', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const path = await create(world, [{ id: 'a', title: 'A', evidences: [{ details: 'first' }] }])
    const { security_frameworks } = await readSecurityFramework(ports, as.owner, path)
    const [control = aControl()] = security_frameworks
    world.clock.now = '2026-03-05T00:00:00.000Z'
    const evidences = [...control.evidences, { details: 'second' }]
    const edit = { security_frameworks: [{ ...control, evidences }] }
    const after = await editSecurityFramework(ports, as.security_officer, path, edit)
    const stamps = after.security_frameworks[0]?.evidences.map(({ details, datetime, submitted_by }) => [
      details,
      datetime,
      submitted_by.user_id,
    ])
    expect(stamps).toEqual([
      ['first', '2026-03-01T12:00:00.000Z', as.owner.user],
      ['second', '2026-03-05T00:00:00.000Z', as.security_officer.user],
    ])
  })

  test('evidence that is left out is kept in the audit trail', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const path = await create(world, [{ id: 'a', title: 'A', evidences: [{ details: 'embarrassing' }] }])
    const before = await readSecurityFramework(ports, as.owner, path)
    await editSecurityFramework(ports, as.owner, path, {
      security_frameworks: [{ id: 'a', title: 'A', evidences: [] }],
    })
    const [edited] = happened(world, 'security_framework.edited')
    expect(edited?.changes['control:a']?.[0]).toEqual(before.security_frameworks[0])
    await editSecurityFramework(ports, as.owner, path, { security_frameworks: [] })
    expect((await readSecurityFramework(ports, as.owner, path)).security_frameworks).toEqual([])
  })

  test('ten edits at once leave one of them whole', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const path = await create(world)
    const edits = Array.from({ length: 10 }, (_, index) =>
      editSecurityFramework(ports, as.owner, path, {
        title: `t${index}`,
        security_frameworks: [{ id: `c${index}`, title: `t${index}` }],
      }),
    )
    await Promise.all(edits)
    const { title, security_frameworks } = await readSecurityFramework(ports, as.owner, path)
    expect(security_frameworks.map((control) => control.title)).toEqual([title])
  })
})

describe('the size of a stored security framework', () => {
  /** Stores a framework of four controls with `room` bytes left, and names it. */
  async function almostFull({ ports, organization }: World, room: number): Promise<SecurityFrameworkPath> {
    const controls = ['a', 'b', 'c', 'd'].map((id) =>
      aControl({ id, title: 'x', weight: 0, evidences: [anEvidence()] }),
    )
    const size = controls.reduce((sum, control) => sum + Buffer.byteLength(JSON.stringify(control)), 0)
    const filling = MAX_CONTROLS_BYTES - size - room
    for (const { evidences } of controls.slice(1)) if (evidences[0]) evidences[0].details += 'x'.repeat(filling / 4)
    const rest = filling - 3 * Math.floor(filling / 4)
    // Two bytes each.
    const details = `${'é'.repeat(rest / 2)}${'x'.repeat(rest % 2)}`
    const [first] = controls[0]?.evidences ?? []
    if (first) first.details += details
    const framework = await ports.transact(({ securityFrameworks }) =>
      securityFrameworks.insert(aFramework({ organization, security_frameworks: controls })),
    )
    expect(await ports.securityFrameworks.controlsSize(framework)).toBe(MAX_CONTROLS_BYTES - room)
    return { organization, framework }
  }

  test('an edit that keeps evidence adds up to no more than the bound, to the byte', async () => {
    const world = await aWorld()
    const { ports, as } = world
    const path = await almostFull(world, 10)
    const edit = (title: string) => {
      const security_frameworks = ['a', 'b', 'c', 'd'].map((id) => ({ id, title: id === 'a' ? title : 'x' }))
      return editSecurityFramework(ports, as.owner, path, { security_frameworks })
    }
    expect(await refusedPaths(edit(`x${'é'.repeat(5)}.`))).toEqual(['security_frameworks'])
    expect(happened(world)).toEqual([])
    expect((await ports.securityFrameworks.findControl(path.organization, path.framework, 'a'))?.title).toBe('x')
    await edit(`x${'é'.repeat(5)}`)
    expect(await ports.securityFrameworks.controlsSize(path.framework)).toBe(MAX_CONTROLS_BYTES)
  })

  test('a document is attached where there is room for its evidence', async () => {
    const world = await aWorld()
    const { ports, as } = world
    async function* content() {
      yield Buffer.from('evidence')
    }
    const path = { ...(await almostFull(world, 100)), control: 'a' }
    const upload = { file_name: 'a.pdf', content_type: 'application/pdf', content: content() }
    expect(await refusedPaths(attachEvidence(ports, as.owner, path, upload))).toEqual(['security_frameworks'])
    expect(happened(world)).toEqual([])
    expect(await ports.files.sweep('9999-12-31T23:59:59.999Z')).toBe(0)
  })

  test('a new framework is no larger', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const evidences = Array.from({ length: 3400 }, () => ({ details: 'x'.repeat(10_000) }))
    const input = { title: 'x', security_frameworks: [{ id: 'a', title: 'x', evidences }] }
    expect(await refusedPaths(createSecurityFramework(ports, as.owner, organization, input))).toEqual([
      'security_frameworks',
    ])
    expect(happened(world)).toEqual([])
    expect((await listSecurityFrameworks(ports, as.owner, organization)).total).toBe(0)
  })
})

describe('merging evidence', () => {
  const stamp = { datetime: '2026-03-05T00:00:00.000Z', submitted_by: { user_id: 'me', user_email: 'me@example.com' } }
  const old = { submitted_by: { user_id: 'you', user_email: 'you@example.com' } }
  const first = anEvidence({ ...old, details: 'a', datetime: '2026-01-01T00:00:00.000Z' })
  const second = anEvidence({ ...old, details: 'b', datetime: '2026-01-02T00:00:00.000Z' })
  const twin = { ...first, datetime: '2026-01-03T00:00:00.000Z' }

  async function merge(stored: (typeof first)[], sent: Partial<typeof first>[] | undefined) {
    const whole = sent?.map((evidence) => ({ files: [], details: '', completed: 0, residual_risk: 0, ...evidence }))
    const sentControl = { ...aControl(), evidences: whole }
    const [control] = await mergeControls(systemSurroundings(), [aControl({ evidences: stored })], [sentControl], stamp)
    return control?.evidences
  }
  /** What the client says of an entry but not of its stamp. */
  function bare({ files, details, completed, residual_risk }: typeof first) {
    return { files, details, completed, residual_risk }
  }

  test('entries that are sent back are the stored ones, in the order sent', async () => {
    expect(await merge([first, second], [second, first])).toEqual([second, first])
    expect(await merge([first, second], [bare(second), bare(first)])).toEqual([second, first])
  })

  test('entries that are left out are gone; all stay where none are named', async () => {
    expect(await merge([first, second], [second])).toEqual([second])
    expect(await merge([first, second], [])).toEqual([])
    expect(await merge([first, second], undefined)).toEqual([first, second])
  })

  test('a new entry has this caller and this moment, whatever it claims', async () => {
    const claim = {
      datetime: '2020-01-01T00:00:00.000Z',
      submitted_by: { user_id: 'boss', user_email: 'b@example.com' },
    }
    expect(await merge([], [{ details: 'new', ...claim }])).toEqual([
      { files: [], details: 'new', completed: 0, residual_risk: 0, ...stamp },
    ])
  })

  test('a stored entry that claims another time or author is a new one', async () => {
    expect(await merge([first], [{ ...first, datetime: twin.datetime }])).toEqual([{ ...first, ...stamp }])
    expect(await merge([first], [{ ...first, submitted_by: { user_id: 'me', user_email: 'x' } }])).toEqual([
      { ...first, ...stamp },
    ])
  })

  test('a stored entry with another address of the same person is the stored one', async () => {
    const submitted_by = { user_id: 'you', user_email: 'new@example.com' }
    expect(await merge([first], [{ ...first, submitted_by }])).toEqual([first])
  })

  test.each<[string, Partial<typeof first>]>([
    ['details', { details: 'edited' }],
    ['files', { files: ['/api/v1/documents/x'] }],
    ['completed', { completed: 0 }],
    ['residual_risk', { residual_risk: 1 }],
  ])('an entry whose %s changed is a new one', async (_, change) => {
    expect(await merge([first], [{ ...first, ...change }])).toEqual([{ ...first, ...change, ...stamp }])
  })

  test('of two entries alike each is found once, by its time or the oldest first', async () => {
    expect(await merge([first, twin], [twin])).toEqual([twin])
    expect(await merge([first, twin], [bare(first)])).toEqual([first])
    expect(await merge([first, twin], [bare(first), bare(first), bare(first)])).toEqual([
      first,
      twin,
      { ...first, ...stamp },
    ])
    expect(await merge([first, twin], [first, bare(first)])).toEqual([first, twin])
    expect(await merge([first], [first, first])).toEqual([first, { ...first, ...stamp }])
  })

  test('what names its stamp is found first, wherever it stands', async () => {
    expect(await merge([first, twin], [bare(first), first])).toEqual([twin, first])
    expect(
      await merge(
        [first, twin],
        [
          { ...bare(first), ...old },
          { ...bare(first), datetime: first.datetime },
        ],
      ),
    ).toEqual([twin, first])
  })

  /** Entries alike in groups of a few, with stamps that repeat. */
  const history = fc.array(
    fc.record({
      details: fc.constantFrom('a', 'a', 'b'),
      datetime: fc.constantFrom('1', '2', '3').map((day) => `2026-01-0${day}T00:00:00.000Z`),
      user_id: fc.constantFrom('x', 'y', 'z'),
    }),
    { maxLength: 9 },
  )
  type Said = { details: string; datetime?: string; user_id?: string }
  const evidenceOf = ({ details, datetime, user_id }: Required<Said>) =>
    anEvidence({ details, datetime, submitted_by: { user_id, user_email: `${user_id}@example.com` } })
  const sentOf = ({ details, datetime, user_id }: Said) => ({
    ...bare(anEvidence({ details })),
    ...(datetime !== undefined && { datetime }),
    ...(user_id !== undefined && { submitted_by: { user_id, user_email: 'x@example.com' } }),
  })
  const whatIsSaid = (said: Required<Said>, parts: number): Said => {
    const { details, datetime, user_id } = said
    return { details, ...(parts & 1 && { datetime }), ...(parts & 2 && { user_id }) }
  }
  const fits = (stored: Said, said: Said) =>
    stored.details === said.details &&
    (said.datetime ?? stored.datetime) === stored.datetime &&
    (said.user_id ?? stored.user_id) === stored.user_id

  test('what is sent back in any order, with any part of any stamp left out, changes no author and no time', async () => {
    const sentBack = history.chain((entries) =>
      fc.tuple(
        fc.constant(entries),
        fc.shuffledSubarray([...entries.keys()], { minLength: entries.length }),
        fc.array(fc.nat(3), { minLength: entries.length, maxLength: entries.length }),
      ),
    )
    await fc.assert(
      fc.asyncProperty(sentBack, async ([entries, order, parts]) => {
        const stored = entries.map(evidenceOf)
        const said = order.map((at) => whatIsSaid(entries[at] as Required<Said>, parts[at] ?? 0))
        const merged = (await merge(stored, said.map(sentOf))) ?? []
        expect(new Set(merged)).toEqual(new Set(stored))
        expect(merged).toHaveLength(stored.length)
        for (const [at, { details, datetime, submitted_by }] of merged.entries()) {
          expect(fits({ details, datetime, user_id: submitted_by.user_id }, said[at] as Said)).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('of whatever is sent, as many entries are found as can be', async () => {
    /** How many of what is said, from `from` on, can be entries that are not in `taken`. */
    function most(entries: Said[], said: Said[], from = 0, taken = new Set<Said>()): number {
      const next = said[from]
      if (!next) return 0
      const free = entries.filter((entry) => !taken.has(entry) && fits(entry, next))
      const found = free.map((entry) => 1 + most(entries, said, from + 1, new Set([...taken, entry])))
      return Math.max(most(entries, said, from + 1, taken), ...found)
    }
    const few = fc.array(
      fc.record({
        details: fc.constant('a'),
        datetime: fc.constantFrom('1', '2'),
        user_id: fc.constantFrom('x', 'y', 'z'),
      }),
      { maxLength: 5 },
    )
    await fc.assert(
      fc.asyncProperty(few, fc.array(fc.tuple(few, fc.nat(3)), { maxLength: 3 }), async (entries, asked) => {
        const said = asked.flatMap(([claims, parts]) => claims.map((claim) => whatIsSaid(claim, parts))).slice(0, 5)
        const stored = entries.map(evidenceOf)
        const merged = (await merge(stored, said.map(sentOf))) ?? []
        expect(merged.filter((entry) => stored.includes(entry))).toHaveLength(most(entries, said))
      }),
      { numRuns: 300 },
    )
  })

  test('evidence does not move from one control to another with its author', async () => {
    const stored = [aControl({ id: 'a', evidences: [first] })]
    const sent = [{ ...aControl({ id: 'b' }), evidences: [first] }]
    expect((await mergeControls(systemSurroundings(), stored, sent, stamp))[0]?.evidences).toEqual([
      { ...first, ...stamp },
    ])
  })

  test('ten thousand entries alike are merged quickly', async () => {
    const stored = Array.from({ length: 10_000 }, () => ({ ...first }))
    const started = performance.now()
    expect(await merge(stored, stored.map(bare))).toEqual(stored)
    expect(await merge(stored, stored)).toEqual(stored)
    expect(performance.now() - started).toBeLessThan(2000)
  })
})

describe('removing a security framework', () => {
  asksFor(
    'security_framework.remove',
    create,
    ({ ports }, caller, path) => removeSecurityFramework(ports, caller, path),
    missing,
  )

  test('returns it, and hides it from then on', async () => {
    const world = await aWorld()
    const { ports, as, organization } = world
    const path = await create(world, [{ id: 'a', title: 'A', evidences: [{}] }])
    const before = await readSecurityFramework(ports, as.owner, path)
    expect(await removeSecurityFramework(ports, as.owner, path)).toEqual(before)
    await expectRefused(world, 'not_found', () => removeSecurityFramework(ports, as.owner, path))
    await expectRefused(world, 'not_found', () => readSecurityFramework(ports, as.owner, path))
    expect((await listSecurityFrameworks(ports, as.owner, organization)).total).toBe(0)
  })
})
