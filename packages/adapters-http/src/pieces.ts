import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Clock, keeping, type Pace } from './pace.ts'

/** Bytes that an answer is written in at a time. */
export const PIECE = 64 * 1024

export function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE)
}

/**
 * Gives the memory of a piece back, which nobody uses any more: left to the garbage collector, the pieces of a large file
 * make it run every few megabytes, over all that the service holds, and pile up in between.
 */
export function release({ buffer, byteLength }: Uint8Array): void {
  // A piece that shares its memory with others leaves it to them.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** The bytes of an answer, which are nobody else's. */
export type Pieces = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

/**
 * Writes the rest of an answer. The next piece is asked for once the connection has taken the one before, so that a client
 * that is slow holds no more than one; its memory is given back. A client that does not take them at this pace is cut off;
 * waiting for a piece is our own time.
 */
export async function writePieces(res: ServerResponse, pieces: Pieces, pace: Pace): Promise<void> {
  const iterator = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()
  const clock = keeping(pace)
  try {
    await itsTurn(res)
    for (;;) {
      const { done, value } = await inTurn(async () => iterator.next())
      if (done) break
      if (!(await isTaken(res, value, clock))) return
      release(value)
    }
  } finally {
    await iterator.return?.()
  }
  res.end()
}

/** Waits until the answers before this one on its connection are sent, which is no time of its client, or it is closed. */
export async function itsTurn(res: ServerResponse): Promise<void> {
  const { socket } = res.req
  if (res.socket || socket.destroyed) return
  await new Promise<void>((resolve) => {
    const done = () => {
      res.off('socket', done)
      socket.off('close', done)
      resolve()
    }
    res.once('socket', done)
    socket.once('close', done)
  })
}

/** For how long after a request others are taken to be there, and the longest that a piece waits for them, in milliseconds. */
const BUSY = 50
/** How many times as long as a piece took to read the next one waits while others are there. */
const REST = 3

let last: Promise<unknown> = Promise.resolve()
let served = Number.NEGATIVE_INFINITY

/** A request was served whose answer has no pieces. */
export function noteServed(): void {
  served = performance.now()
}

/**
 * Asks for pieces one after the other, however many answers want one, each in a turn of the event loop of its own. A
 * connection that takes whatever it is given would keep everybody waiting to the end of the file; a hundred of them would
 * also take the whole database, and hold up whoever connects, since one connection is accepted a turn. While others are
 * served, their requests get most of the time: what is read for whoever takes it slowly is in no hurry.
 */
function inTurn<Result>(ask: () => Promise<Result>): Promise<Result> {
  let began = 0
  const asked = last
    .then(() => nextTurn())
    .then(() => {
      began = performance.now()
      return ask()
    })
  last = asked.catch(() => {}).then(() => giveWay(performance.now() - began))
  return asked
}

async function giveWay(taken: number): Promise<void> {
  const rest = Math.min(REST * taken, BUSY)
  const isBusy = performance.now() - served < BUSY
  // A timer cannot be set for less; pieces that are there already cost nobody anything.
  if (isBusy && rest >= 1) await new Promise((resolve) => setTimeout(resolve, rest))
}

/** Whether the connection has taken the bytes; it does not once it is closed, which it is when the clock has run out. */
async function isTaken(res: ServerResponse, bytes: Uint8Array, clock: Clock): Promise<boolean> {
  if (res.destroyed || !res.socket) return false
  const given = performance.now()
  const timer = setTimeout(() => res.destroy(), clock.left())
  const taken = await new Promise<boolean>((resolve) => {
    const closed = () => resolve(false)
    res.once('close', closed)
    res.write(bytes, (error) => {
      res.off('close', closed)
      resolve(!error)
    })
  })
  clearTimeout(timer)
  clock.note(performance.now() - given, bytes.length)
  return taken
}
