import { createServer, get } from 'node:http'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { listen, stopListening } from '../src/listen.ts'

const ANY = { HOST: '127.0.0.1', PORT: 0 }

test('a stop closes connections that keep nobody waiting at once', async () => {
  const server = createServer((_request, response) => response.end('fine'))
  const address = await listen(server, ANY)
  const client = connect(Number(new URL(address).port), '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await new Promise((resolve) => client.once('data', resolve))
  const closed = new Promise((resolve) => client.once('close', resolve))
  client.resume()
  await stopListening(server, 60_000)
  await closed
  expect(server.listening).toBe(false)
})

test('a stop waits no longer than it was told to for a request that does not end', async () => {
  const server = createServer(() => {})
  const address = await listen(server, ANY)
  const request = get(address)
  const broken = new Promise((resolve) => request.once('error', resolve))
  await new Promise((resolve) => server.once('request', resolve))
  await stopListening(server, 50)
  expect(await broken).toMatchObject({ code: 'ECONNRESET' })
})

test.each([
  ['127.0.0.1', /^http:\/\/127\.0\.0\.1:\d+$/],
  ['0.0.0.0', /^http:\/\/127\.0\.0\.1:\d+$/],
  ['localhost', /^http:\/\/localhost:\d+$/],
])('an address to listen on, %s, is told as one that can be asked', async (HOST, url) => {
  const server = createServer((_request, response) => response.end('fine'))
  const address = await listen(server, { HOST, PORT: 0 })
  expect(address).toMatch(url)
  expect(await (await fetch(address)).text()).toBe('fine')
  await stopListening(server, 0)
})

test('an address of another machine is refused with one line that names the variable', async () => {
  await expect(listen(createServer(), { HOST: '192.0.2.1', PORT: 0 })).rejects.toThrow(/^192\.0\.2\.1 .*HOST/)
})
