import { afterAll, describe, expect, test } from 'vitest'
import { clientOf } from './support/client.ts'
import { everyDatabase } from './support/databases.ts'
import { temporaryDirectory } from './support/program.ts'
import { firstToken, startServer } from './support/server.ts'

const WRITERS = 16

/** Writes that must be acknowledged before the process is killed. */
const ENOUGH = 150

const { databases, stop } = everyDatabase()

afterAll(stop)

describe.each(databases)('killed in the middle of writes, the service on $name', ({ open }) => {
  test('has every write that it acknowledged when it starts again', async () => {
    const directory = await temporaryDirectory()
    const env = { DATABASE_URL: await open() }
    const first = await startServer(directory.path, env)
    const token = await firstToken(first)
    const acknowledged = new Map<number, string>()
    let killed: Promise<unknown> | undefined

    async function write(writer: number): Promise<void> {
      const client = clientOf(first.address, token)
      for (let count = 0; ; count += 1) {
        const name = `organization ${count} of writer ${writer}`
        const answer = await client('POST', '/organizations', { name }).catch(() => undefined)
        if (answer?.status !== 201) return
        acknowledged.set(answer.body.organization as number, name)
        if (acknowledged.size >= ENOUGH) killed ??= first.stop('SIGKILL')
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
    await killed
    expect(acknowledged.size).toBeGreaterThanOrEqual(ENOUGH)

    const second = await startServer(directory.path, env)
    const { body } = await clientOf(second.address, token)('GET', '/organizations?limit=1000')
    const kept = new Map((body.data as { id: number; name: string }[]).map(({ id, name }) => [id, name]))
    expect([...acknowledged].filter(([id, name]) => kept.get(id) !== name)).toEqual([])
    await second.stop()
    await directory.remove()
  })
})
