import { describe, expect, test } from 'vitest'
import { memoryPorts } from '../memory/index.ts'
import { createOrganization } from '../organizations/create-organization.ts'
import { aPerson, aWorld, type World } from '../testing/world.ts'
import { answerOnce, forgetAnswers, hasAnswer, KEPT_FOR, sealOfCall } from './answer-once.ts'

const SECRET = 'a secret that nobody can guess'

const callOf = ({ ports }: Pick<World, 'ports'>, fingerprint = 'f', key = 'key 1', secret = SECRET) => ({
  seal: sealOfCall(ports, secret, key),
  fingerprint,
})

describe('a call that may come again', () => {
  async function aScene() {
    const world = await aWorld()
    const { ports } = world
    const caller = await aPerson(world)
    let runs = 0
    const answer = (call = callOf(world)) =>
      ports.transact((stores) =>
        answerOnce(ports, stores, call, async () => {
          runs += 1
          const unit = { ...ports, ...stores, transact: <R>(work: (of: typeof stores) => Promise<R>) => work(stores) }
          return `created ${await createOrganization(unit, caller, { name: 'Acme' })}`
        }),
      )
    return { world, ports, answer, runs: () => runs }
  }

  test('is run once, and gets the first answer', async () => {
    const { answer, runs } = await aScene()
    const first = await answer()
    expect(first).toMatch(/^created \d+$/)
    expect(await answer()).toBe(first)
    expect(runs()).toBe(1)
  })

  test('is another one with another key or another secret', async () => {
    const { world, answer, runs } = await aScene()
    await answer()
    await answer(callOf(world, 'f', 'key 2'))
    await answer(callOf(world, 'f', 'key 1', 'another secret'))
    expect(runs()).toBe(3)
  })

  test('is refused when it carries something else', async () => {
    const { world, answer, runs } = await aScene()
    await answer()
    const refusal = { code: 'invalid', details: [{ path: 'Idempotency-Key' }] }
    await expect(answer(callOf(world, 'g'))).rejects.toMatchObject(refusal)
    expect(runs()).toBe(1)
  })

  test('runs again when it failed', async () => {
    const { world, ports, answer, runs } = await aScene()
    const failing = ports.transact((stores) =>
      answerOnce(ports, stores, callOf(world), () => Promise.reject(new Error('no'))),
    )
    await expect(failing).rejects.toThrow('no')
    expect(await hasAnswer(ports, callOf(world).seal)).toBe(false)
    await answer()
    expect(runs()).toBe(1)
  })

  test('is remembered for 24 hours, and then erased', async () => {
    const { world, ports, answer, runs } = await aScene()
    const { seal } = callOf(world)
    const first = await answer()
    world.clock.now = new Date(ports.now().getTime() + KEPT_FOR).toISOString()
    await forgetAnswers(ports)
    expect(await answer()).toBe(first)
    world.clock.now = new Date(ports.now().getTime() + 1).toISOString()
    expect(await hasAnswer(ports, seal)).toBe(false)
    expect(await answer()).not.toBe(first)
    expect(runs()).toBe(2)
    world.clock.now = new Date(ports.now().getTime() + KEPT_FOR + 1).toISOString()
    await forgetAnswers(ports)
    expect(await ports.answers.find(seal.id, '')).toBeUndefined()
  })

  test('leaves nothing in the store that can be read without the secret', async () => {
    const { world, ports, answer } = await aScene()
    await answer()
    const { seal } = callOf(world)
    const sealed = (await ports.answers.find(seal.id, '')) ?? new Uint8Array()
    const stored = `${seal.id} ${Buffer.from(sealed).toString('latin1')}`
    for (const secret of ['created', SECRET, 'key 1']) expect(stored).not.toContain(secret)
    expect(() => callOf(world, 'f', 'key 1', 'a guess').seal.open(sealed)).toThrow()
    expect(seal.open(sealed)).toContain('created')
  })
})

describe('a seal', () => {
  const { sealOf } = memoryPorts()

  test('is the same for the same secret and name, and opens what it has shut', () => {
    const text = 'é 🛡️ \u0000'
    expect(sealOf('s', 'n').id).toBe(sealOf('s', 'n').id)
    expect(sealOf('s', 'n').id).toMatch(/^[0-9a-f]{64}$/)
    expect(sealOf('s', 'n').open(sealOf('s', 'n').seal(text))).toBe(text)
    expect(new Set([sealOf('s', 'n'), sealOf('s', 'm'), sealOf('t', 'n')].map(({ id }) => id)).size).toBe(3)
  })

  test('shuts the same text otherwise each time, and notices every change', () => {
    const { seal, open } = sealOf('s', 'n')
    const sealed = seal('text')
    expect(Buffer.from(seal('text')).equals(Buffer.from(sealed))).toBe(false)
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Uint8Array.from(sealed, (byte, index) => (index === at ? byte ^ 1 : byte))
      expect(() => open(changed)).toThrow()
    }
    expect(() => open(sealed.subarray(0, 20))).toThrow()
  })
})
