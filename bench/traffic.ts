import { execFile, spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

// How fast traffic is taken in over HTTP by a served SQLite database, everything included: hash, judging, counts, the
// bytes kept. Beside it, in the same run and on the same lines, what other programs take for less. Linux only.

const MAIN = fileURLToPath(new URL('../apps/server/dist/main.js', import.meta.url))
const STALL = fileURLToPath(new URL('./event-loop.mjs', import.meta.url))
const PLAIN = fileURLToPath(new URL('./plain-script.mjs', import.meta.url))
const LINES = 1_000_000
const NETWORKS = 100_000
const RUNS = 3

const run = promisify(execFile)
let seed = 7

function random(below: number): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}

const address = () => `${1 + random(223)}.${random(256)}.${random(256)}.${random(256)}`
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36'

function aLine(index: number) {
  const time = new Date(Date.UTC(2026, 2, 1) + index * 80)
  return {
    time,
    client: address(),
    path: `/articles/${random(100_000)}/${random(100)}.html`,
    status: [200, 200, 304, 404][random(4)],
  }
}

/** Writes a file of a million lines, without having it in memory. */
async function write(path: string, first: string, separator: string, last: string, line: (index: number) => string) {
  const file = await open(path, 'w')
  for (let from = 0; from < LINES; from += 10_000) {
    const lines = Array.from({ length: 10_000 }, (_, index) => line(from + index))
    await file.write((from === 0 ? first : separator) + lines.join(separator))
  }
  await file.write(last)
  await file.close()
}

const asObject = (index: number) => {
  const { time, client, path, status } = aLine(index)
  const fields = {
    timestamp: time.toISOString(),
    client_ip: client,
    host: 'www.example.com',
    method: 'GET',
    path,
    status,
    bytes: random(90_000),
    action: 'allowed',
  }
  return JSON.stringify(fields)
}
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr']
const asCombined = (index: number) => {
  const { time, client, path, status } = aLine(index)
  const [day, month, year] = [time.getUTCDate(), MONTHS[time.getUTCMonth()], time.getUTCFullYear()]
  const stamp = `${String(day).padStart(2, '0')}/${month}/${year}:${time.toISOString().slice(11, 19)} +0000`
  return JSON.stringify(`${client} - - [${stamp}] "GET ${path} HTTP/1.1" ${status} ${random(90_000)} "-" "${AGENT}"`)
}

type Measured = { seconds: number; cpu?: number }

async function timed(work: () => Promise<unknown>): Promise<Measured> {
  const started = performance.now()
  await work()
  return { seconds: (performance.now() - started) / 1000 }
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

function say(what: string, { seconds, cpu }: Measured, bytes: number): void {
  const rate = (LINES / seconds / 1e6).toFixed(2)
  const processor = cpu === undefined ? '' : `   ${cpu.toFixed(2)} processor seconds`
  process.stdout.write(
    `  ${what.padEnd(46)} ${seconds.toFixed(2)} s   ${rate} M lines/s   ${(bytes / seconds / 1e6).toFixed(0)} MB/s${processor}\n`,
  )
}

async function repeated(work: () => Promise<Measured>): Promise<Measured> {
  const results: Measured[] = []
  for (let turn = 0; turn < RUNS; turn += 1) results.push(await work())
  const cpus = results.flatMap(({ cpu }) => (cpu === undefined ? [] : [cpu]))
  return { seconds: median(results.map(({ seconds }) => seconds)), ...(cpus.length > 0 && { cpu: median(cpus) }) }
}

/** The service on an empty database with one feed, and the way to upload to it. */
async function startService(folder: string, networks: string) {
  const env = {
    ...process.env,
    PORT: '0',
    LOG_LEVEL: 'info',
    DATABASE_URL: `sqlite:${join(folder, 'bench.sqlite')}`,
    STALL_FILE: join(folder, 'stall'),
  }
  await run(process.execPath, [MAIN, 'feed', 'add', 'networks', '--kind', 'ip', networks], { env })
  const child = spawn(process.execPath, ['--import', STALL, MAIN, 'serve', '--json'], {
    env,
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stdout.on('data', (text) => {
    said += text
  })
  child.stderr.resume()
  while (!said.includes('\n')) await sleep(50)
  const { address: url, token } = JSON.parse(said) as { address: string; token: string }
  await sleep(2500)
  const post = async (path: string, body: object) => {
    const headers = { 'X-Service-Token': token, 'Content-Type': 'application/json' }
    return (
      await fetch(`${url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    ).json() as Promise<Record<string, number>>
  }
  const { organization } = await post('/organizations', { name: 'Bench' })
  const ticks = async () => {
    const [, after = ''] = (await readFile(`/proc/${child.pid}/stat`, 'utf8')).split(') ')
    const fields = after.split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  }
  const memory = async (name: 'VmRSS' | 'VmHWM') => {
    const text = await readFile(`/proc/${child.pid}/status`, 'utf8')
    return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1024
  }
  async function upload(path: string, type: string): Promise<Measured> {
    const fields = {
      device_id: 'bench',
      email: 'bench@example.com',
      type: 'series',
      services: ['Service IPv4 Protection'],
    }
    const { ticket } = await post('/atb', { organization, ...fields })
    const before = await ticks()
    const { size } = await stat(path)
    const { seconds } = await timed(
      () =>
        new Promise<void>((resolve, reject) => {
          const headers = {
            'X-Service-Token': token,
            'Content-Type': type,
            'Content-Length': size,
            'Content-Disposition': 'attachment; filename="bench"',
          }
          const sent = request(`${url}/api/v1/atb/${ticket}/traffic`, { method: 'POST', headers }, (answer) => {
            answer.resume()
            answer.on('end', () =>
              answer.statusCode === 200 ? resolve() : reject(new Error(`HTTP ${answer.statusCode}`)),
            )
          })
          sent.on('error', reject)
          createReadStream(path, { highWaterMark: 1 << 20 }).pipe(sent)
        }),
    )
    return { seconds, cpu: (await ticks()) - before }
  }
  return {
    upload,
    memory,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
      return Number(await readFile(join(folder, 'stall'), 'utf8'))
    },
  }
}

async function isThere(program: string): Promise<boolean> {
  return run('which', [program]).then(
    () => true,
    () => false,
  )
}

const folder = await mkdtemp(join(tmpdir(), 'bench-'))
try {
  const [objects, combined, networks] = ['objects.ndjson', 'combined.json', 'networks.txt'].map((name) =>
    join(folder, name),
  ) as [string, string, string]
  process.stderr.write('writing a million lines twice …\n')
  await write(objects, '', '\n', '\n', asObject)
  await write(combined, '[', ',\n', ']', asCombined)
  await writeFile(
    networks,
    Array.from({ length: NETWORKS }, () => `${1 + random(223)}.${random(256)}.${random(256)}.0/24\n`).join(''),
  )
  const [machine] = cpus()
  process.stdout.write(
    `${machine?.model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}; median of ${RUNS}\n`,
  )
  const service = await startService(folder, networks)
  const idle = await service.memory('VmRSS')
  for (const [name, path, type] of [
    ['NDJSON objects', objects, 'application/x-ndjson'],
    ['an array of Combined strings', combined, 'application/json'],
  ] as const) {
    const { size } = await stat(path)
    process.stdout.write(`${LINES} lines, ${name}, ${(size / 1e6).toFixed(0)} MB, ${NETWORKS} networks\n`)
    const own = await repeated(() => service.upload(path, type))
    say('upload over HTTP', own, size)
    const others: [string, string, string[]][] = [
      ['plain readline, JSON.parse, regular expression', process.execPath, [PLAIN, path]],
      ...((await isThere('grepcidr'))
        ? [['grepcidr -c -f', 'grepcidr', ['-c', '-f', networks, path]] as [string, string, string[]]]
        : []),
      ...((await isThere('goaccess')) && name !== 'NDJSON objects'
        ? [
            [
              'GoAccess, the strings bare',
              'sh',
              [
                '-c',
                `sed 's/^\\[*"//; s/",*\\]*$//; s/\\\\"/"/g' ${combined} > ${folder}/bare.log; goaccess ${folder}/bare.log --log-format=COMBINED -o ${folder}/out.json --no-progress`,
              ],
            ] as [string, string, string[]],
          ]
        : []),
    ]
    for (const [what, program, args] of others) {
      const other = await repeated(() =>
        timed(() =>
          run(program, args).catch((error) => {
            if (error.code !== 1) throw error
          }),
        ),
      )
      say(what, other, size)
      process.stdout.write(
        `  ${' '.repeat(46)} ${(other.seconds / own.seconds).toFixed(2)} times as fast is the upload\n`,
      )
    }
  }
  const peak = await service.memory('VmHWM')
  const stall = await service.stop()
  process.stdout.write(
    `memory ${idle.toFixed(0)} MiB idle, ${peak.toFixed(0)} MiB at the peak; longest stall of the event loop ${stall.toFixed(0)} ms\n`,
  )
} finally {
  await rm(folder, { recursive: true, force: true })
}
