import { type AddressInfo, createServer } from 'node:net'

/** A mail server that takes every mail, on a free port. `mails` holds each as it came over the wire. */
export async function startMailServer() {
  const mails: string[] = []
  const server = createServer((socket) => {
    let received = ''
    let inMail = false
    socket.on('error', () => {})
    socket.write('220 ready\r\n')
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text
      if (inMail && received.endsWith('\r\n.\r\n')) {
        mails.push(received)
        inMail = false
      } else if (inMail || !received.endsWith('\r\n')) return
      inMail = received.startsWith('DATA\r\n')
      socket.write(inMail ? '354 go on\r\n' : '250 fine\r\n')
      received = inMail ? '\r\n' : ''
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { port: (server.address() as AddressInfo).port, mails, stop }
}
