import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** How a mail server behaves; `drop`: it takes each mail, and the line drops once before it says so. */
export type Mood =
  | 'accept'
  | 'refuse'
  | 'hang at the greeting'
  | 'hang at MAIL'
  | 'hang after DATA'
  | '421'
  | '450 for everybody'
  | '550 for everybody'
  | 'drop'

export type MailServer = {
  url: string
  /** By `Message-ID`: to whom, how often it was taken and said so, and how often it was taken and the line dropped. */
  mails: ReadonlyMap<string, { to: string; accepted: number; dropped: number }>
  /** How many connections found it in each mood. */
  connections: ReadonlyMap<Mood, number>
  /** Changes its mood for what comes; with `ending`, connections that hang are ended. */
  become(mood: Mood, ending?: boolean): Promise<void>
  stop(): Promise<void>
}

/** Starts a mail server on a free port, which behaves as it is told. */
export async function startMailServer(mood: Mood): Promise<MailServer> {
  const mails = new Map<string, { to: string; accepted: number; dropped: number }>()
  const connections = new Map<Mood, number>()
  const hanging = new Set<Socket>()
  let current = mood
  const server = createServer((socket) => {
    connections.set(current, (connections.get(current) ?? 0) + 1)
    socket.on('error', () => {})
    socket.once('close', () => hanging.delete(socket))
    converse(
      socket,
      () => current,
      mails,
      () => hanging.add(socket),
    )
  })
  let port = 0

  async function listen(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      try {
        const listening = once(server, 'listening')
        server.listen(port, '127.0.0.1')
        await listening
        return
      } catch (error) {
        // Somebody else's connection may have been given the port in the meantime.
        if (tries === 50) throw error
        await sleep(200)
      }
    }
  }
  await listen()
  port = (server.address() as AddressInfo).port

  async function become(next: Mood, ending = false): Promise<void> {
    current = next
    if (ending) for (const socket of hanging) socket.destroy()
    if (next === 'refuse' && server.listening) server.close()
    else if (next !== 'refuse' && !server.listening) await listen()
  }
  await become(mood)

  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    connections,
    become,
    async stop() {
      server.close()
      for (const socket of hanging) socket.destroy()
    },
  }
}

type Taken = { to: string; accepted: number; dropped: number }

/** One connection: SMTP, as far as a client of one mail speaks it. */
function converse(socket: Socket, mood: () => Mood, mails: Map<string, Taken>, hang: () => void): void {
  let received = ''
  let to = ''
  let inData = false
  const say = (line: string) => void socket.write(`${line}\r\n`)

  function take(message: string): void {
    const [, id = `none: ${message.slice(0, 200)}`] = /^Message-ID:\s*(\S+)/im.exec(message) ?? []
    const mail = mails.get(id) ?? { to, accepted: 0, dropped: 0 }
    mails.set(id, mail)
    if (mood() === 'drop' && mail.dropped === 0) {
      mail.dropped += 1
      socket.destroy()
      return
    }
    mail.accepted += 1
    say('250 taken')
  }

  function answer(line: string): void {
    const verb = line.slice(0, 4).toUpperCase()
    if (verb === 'QUIT') {
      say('221 bye')
      socket.end()
    } else if (verb === 'MAIL' && mood() === 'hang at MAIL') hang()
    else if (verb === 'RCPT' && mood() === '450 for everybody') say('450 try again later')
    else if (verb === 'RCPT' && mood() === '550 for everybody') say('550 nobody here')
    else if (verb === 'RCPT') {
      to = /<([^>]*)>/.exec(line)?.[1] ?? ''
      say('250 fine')
    } else if (verb === 'DATA') {
      inData = true
      say('354 go on')
    } else say('250 fine')
  }

  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
    for (;;) {
      const mark = inData ? '\r\n.\r\n' : '\r\n'
      const end = received.indexOf(mark)
      if (end < 0) return
      const part = received.slice(0, end)
      received = received.slice(end + mark.length)
      if (!inData) answer(part)
      else {
        inData = false
        if (mood() === 'hang after DATA') hang()
        else take(part)
      }
    }
  })

  if (mood() === 'hang at the greeting') hang()
  else if (mood() === '421') {
    say('421 too busy')
    socket.end()
  } else say('220 ready')
}
