import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { anInvitationMail, INVITATION_CODE } from '@security-management/domain/contracts'
import PostalMime from 'postal-mime'
import { afterEach, describe, expect, test } from 'vitest'
import { smtpMailer } from './smtp-mailer.ts'
import { startSmtpServer } from './testing/smtp-test-server.ts'

const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function started(options: Parameters<typeof startSmtpServer>[0] = {}) {
  const server = await startSmtpServer(options)
  closers.push(server.close)
  return server
}

function mailerTo(address: string, timeout?: number) {
  const settings = { from: 'service@example.org', publicUrl: 'https://security.example.com' }
  const mailer = smtpMailer({ ...settings, url: `smtp://${address}`, ...(timeout && { timeout }) })
  closers.push(mailer.close)
  return mailer
}

function refusal(responseCode: number, message: string) {
  return Object.assign(new Error(message), { responseCode })
}

/** A server that is no mail server: it does with each connection what the test says. */
async function rawServer(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the mailer that speaks SMTP', () => {
  test('hands the mail to the server, from and to exactly one address', async () => {
    const server = await started()
    await mailerTo(`127.0.0.1:${server.port}`).send(anInvitationMail({ organization_name: 'Acme, <x@example.net>' }))
    const [taken] = server.taken
    expect(server.taken).toHaveLength(1)
    expect(taken).toMatchObject({ from: 'service@example.org', to: ['anna@example.com'] })
    const mail = await PostalMime.parse(taken?.message ?? '')
    expect(mail.subject).toBe('Invitation to Acme, <x@example.net>')
    expect(mail.text).toContain(INVITATION_CODE)
  })

  test('gives the mail the same Message-ID at every try', async () => {
    const server = await started()
    await mailerTo(`127.0.0.1:${server.port}`).send(anInvitationMail())
    await mailerTo(`127.0.0.1:${server.port}`).send(anInvitationMail())
    const ids = await Promise.all(server.taken.map(async ({ message }) => (await PostalMime.parse(message)).messageId))
    const id = '<0b0f3a54-5b43-4b53-9a3e-6b2b9d0f7a11@example.org>'
    expect(ids).toEqual([id, id])
  })

  test.each([
    [421, 'Too busy, try again'],
    [550, 'No such mailbox'],
  ])('fails with what the server says when it refuses the person with %i', async (code, words) => {
    const server = await started({ onRcptTo: (_address, _session, callback) => callback(refusal(code, words)) })
    await expect(mailerTo(`127.0.0.1:${server.port}`).send(anInvitationMail())).rejects.toThrow(`${code} ${words}`)
  })

  test('fails when the server refuses the message after it has come', async () => {
    const server = await started({
      onData(stream, _session, callback) {
        stream.resume()
        stream.on('end', () => callback(refusal(554, 'Looks like spam')))
      },
    })
    await expect(mailerTo(`127.0.0.1:${server.port}`).send(anInvitationMail())).rejects.toThrow('554 Looks like spam')
  })

  test('fails when the connection drops after the message, since nobody knows whether it was taken', async () => {
    const address = await rawServer((socket) => {
      socket.write('220 ready\r\n')
      let inMessage = false
      socket.on('data', (data) => {
        const text = data.toString()
        if (inMessage) {
          if (text.endsWith('\r\n.\r\n')) socket.destroy()
        } else if (text.startsWith('DATA')) {
          inMessage = true
          socket.write('354 go on\r\n')
        } else socket.write('250 fine\r\n')
      })
    })
    await expect(mailerTo(address).send(anInvitationMail())).rejects.toThrow(/closed|reset/i)
  })

  test('gives up on a server that says nothing', async () => {
    const address = await rawServer(() => {})
    await expect(mailerTo(address, 200).send(anInvitationMail())).rejects.toThrow(/within 0.2 s|Greeting|Timeout/)
  })

  test('gives up on a server that always says a little and never comes to an end', async () => {
    const timers: NodeJS.Timeout[] = []
    closers.push(() => {
      for (const timer of timers) clearInterval(timer)
    })
    const address = await rawServer((socket) => {
      socket.write('220 ready\r\n')
      socket.on('data', () => timers.push(setInterval(() => socket.write('250-still thinking\r\n'), 20)))
    })
    await expect(mailerTo(address, 300).send(anInvitationMail())).rejects.toThrow('within 0.3 s')
  })

  test('fails when nobody listens', async () => {
    const server = await startSmtpServer()
    await server.close()
    await expect(mailerTo(`127.0.0.1:${server.port}`).send(anInvitationMail())).rejects.toThrow(/ECONNREFUSED/)
  })

  test('stops what it is sending when it is closed', async () => {
    let mailer: ReturnType<typeof smtpMailer> | undefined
    const address = await rawServer(() => mailer?.close())
    mailer = mailerTo(address)
    await expect(mailer.send(anInvitationMail())).rejects.toThrow('The service was stopped')
  })

  test('logs in, and never repeats the password in an error, however the server quotes it', async () => {
    const password = 'p@ss word/1'
    const encoded = Buffer.from(`\0relay\0${password}`).toString('base64')
    const server = await started({
      authMethods: ['PLAIN'],
      onAuth: (auth, _session, callback) =>
        auth.password === password
          ? callback(refusal(535, `${password} ${encoded} is not welcome`))
          : callback(null, { user: 'relay' }),
    })
    const login = `relay:${encodeURIComponent(password)}@127.0.0.1:${server.port}`
    const failure = mailerTo(login).send(anInvitationMail())
    await expect(failure).rejects.toThrow('535 [password] [password] is not welcome')
  })

  test('sends over TLS where the server offers it', async () => {
    const server = await started({ disabledCommands: [] })
    await mailerTo(`127.0.0.1:${server.port}?tls.rejectUnauthorized=false&requireTLS=true`).send(anInvitationMail())
    expect(server.taken).toMatchObject([{ secure: true }])
  })
})
