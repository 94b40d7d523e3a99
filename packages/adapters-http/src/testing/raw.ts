import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type Answer, answerOf, faultsOf } from './answers.ts'

/** A connection on which a test writes bytes as they are, and reads whole answers. */
export type Line = {
  socket: Socket
  write(text: string | Uint8Array): void
  /** The next answer, which has no body if it is that of a HEAD; undefined when the connection ended before one. */
  answer(method?: string): Promise<Answer | undefined>
  /** How the connection has ended, if it has: `end`, `close`, or the error. */
  howEnded(): string | undefined
  /** Whether the server ends the connection in time. */
  ended(patience?: number): Promise<boolean>
  /** Bytes that came and were not taken with an answer: of one that was cut, if the connection has ended. */
  left(): number
}

export async function openLine({ port }: { port: number }): Promise<Line> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let received = Buffer.alloc(0)
  let over: string | undefined
  let wake = () => {}
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes])
    wake()
  })
  for (const event of ['end', 'close', 'error']) {
    socket.on(event, (error?: unknown) => {
      over ??= error instanceof Error ? error.message : event
      wake()
    })
  }

  function take(method: string): Answer | undefined {
    const end = received.indexOf('\r\n\r\n')
    if (end < 0) return undefined
    const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    )
    const from = end + 4
    const to = from + (method === 'HEAD' ? 0 : Number(headers['content-length'] ?? 0))
    if (received.length < to) return undefined
    const answer = answerOf(Number(first.split(' ')[1]), headers, received.subarray(from, to))
    received = received.subarray(to)
    return answer
  }

  return {
    socket,
    write: (text) => void socket.write(text),
    async answer(method = 'GET') {
      for (;;) {
        const answer = take(method)
        if (answer || over !== undefined) return answer
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    howEnded: () => over,
    async ended(patience = 5000) {
      const late = new Promise<false>((resolve) => setTimeout(() => resolve(false), patience).unref())
      const end = (async () => {
        while (over === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
        return true as const
      })()
      return Promise.race([end, late])
    },
    left: () => received.length,
  }
}

/** Sends bytes as they are on a connection of their own and checks that an envelope comes back. */
export async function talk(service: { port: number }, text: string | Uint8Array): Promise<Answer> {
  const line = await openLine(service)
  line.write(text)
  const answer = await line.answer()
  line.socket.destroy()
  if (!answer) throw new Error('The connection ended without an answer')
  const faults = faultsOf('', '', answer)
  if (faults.length > 0) throw new Error(faults.join('; '))
  return answer
}
