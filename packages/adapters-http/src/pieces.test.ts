import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { noteServed, writePieces } from './pieces.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** An answer behind others on its connection. */
function aWaitingAnswer() {
  return new ServerResponse(new IncomingMessage(new Socket()))
}

/** An answer whose client takes whatever it is given. */
function anAnswer() {
  const res = aWaitingAnswer()
  takeTurn(res)
  return res
}

function takeTurn(res: ServerResponse) {
  const line = new PassThrough().resume()
  res.assignSocket(line as unknown as Socket)
}

async function* pieces(count: number, wait: Promise<unknown> = Promise.resolve()): AsyncGenerator<Uint8Array> {
  await wait
  for (let index = 0; index < count; index += 1) yield new Uint8Array(10)
}

test('an answer that waits for its turn behind another one costs its client no time', async () => {
  const pace = { bytes: 1000, milliseconds: 10_000 }
  let give = () => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  const [quick, slow] = [anAnswer(), anAnswer()]
  const written = [writePieces(quick, pieces(3), pace), writePieces(slow, pieces(1, given), pace)]
  // Until the quick one has sent a piece, and waits for the turn that the slow one has.
  for (let turns = 0; turns < 20; turns += 1) await nextTurn()
  vi.advanceTimersByTime(60_000)
  give()
  await Promise.all(written)
  expect([quick, slow].map(({ destroyed, writableEnded }) => [destroyed, writableEnded])).toEqual([
    [false, true],
    [false, true],
  ])
})

test('an answer that waits for those before it on its connection reads nothing, and costs its client no time', async () => {
  let read = 0
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces(3)) {
      read += 1
      yield piece
    }
  }
  const res = aWaitingAnswer()
  const written = writePieces(res, counted(), { bytes: 1000, milliseconds: 10_000 })
  for (let turns = 0; turns < 20; turns += 1) await nextTurn()
  vi.advanceTimersByTime(60_000)
  expect(read).toBe(0)
  takeTurn(res)
  await written
  expect([read, res.destroyed, res.writableEnded]).toEqual([3, false, true])
})

test('an answer whose connection ends before its turn is let go of', async () => {
  const res = aWaitingAnswer()
  const written = writePieces(res, pieces(3), { bytes: 1000, milliseconds: 10_000 })
  await nextTurn()
  res.req.socket.destroy()
  await expect(written).resolves.toBeUndefined()
  expect(res.writableEnded).toBe(false)
})

test('what takes long to read gives way to others while there are any', async () => {
  const asked: number[] = []
  async function* slow(): AsyncGenerator<Uint8Array> {
    for (let index = 0; index < 4; index += 1) {
      asked.push(performance.now())
      vi.advanceTimersByTime(10)
      yield new Uint8Array(10)
    }
  }
  noteServed()
  const written = writePieces(anAnswer(), slow(), { bytes: 1000, milliseconds: 10_000 })
  while (asked.length < 4) {
    // Whatever waits for nothing but its turn gets it before time passes.
    for (let turns = 0; turns < 20; turns += 1) await nextTurn()
    vi.advanceTimersByTime(1)
  }
  await written
  const waited = asked.slice(1).map((time, index) => Math.floor((time - (asked[index] ?? 0)) / 10) * 10)
  // Nobody else came meanwhile: 50 ms after them there is nobody to give way to.
  expect(waited).toEqual([40, 10, 10])
})
