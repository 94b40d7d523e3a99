import { execFile, spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { SERVE_FLAGS } from '../apps/server/test/support/program.ts'

// How fast traffic is taken in over HTTP by a served SQLite database, everything included: hash, judging, counts, the
// bytes kept. Beside it, in the same run and on the same lines, what other programs take for less. Linux only.

const MAIN = fileURLToPath(new URL('../apps/server/dist/main.js', import.meta.url))
const STALL = fileURLToPath(new URL('./event-loop.mjs', import.meta.url))
const PLAIN = fileURLToPath(new URL('./plain-script.mjs', import.meta.url))
const LINES = 1_000_000
const NETWORKS = 100_000
const RUNS = 3
/** The largest file that is taken. */
const MOST_BYTES = 256 * 1024 * 1024

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

/** How the lines stand in a file. */
type Form = { first: string; separator: string; last: string; line: (index: number) => string }

/** Writes a file of so many lines, but of no more than `MOST_BYTES`, without having it in memory. */
async function write(path: string, { first, separator, last, line }: Form, count: number): Promise<void> {
  const file = await open(path, 'w')
  let size = 0
  for (let from = 0; from < count; from += 1000) {
    const lines = Array.from({ length: 1000 }, (_, index) => line(from + index))
    const text = (from === 0 ? first : separator) + lines.join(separator)
    if (size + text.length + last.length > MOST_BYTES) break
    await file.write(text)
    size += text.length
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

const FORMS = {
  'NDJSON objects': { first: '', separator: '\n', last: '\n', line: asObject },
  'an array of Combined strings': { first: '[', separator: ',\n', last: ']', line: asCombined },
} satisfies Record<string, Form>

type Measured = { seconds: number; cpu?: number }

async function timed(work: () => Promise<unknown>): Promise<Measured> {
  const started = performance.now()
  await work()
  return { seconds: (performance.now() - started) / 1000 }
}

/** Runs another program; the shell says what it took of the processors. */
async function timedProgram(program: string, args: string[]): Promise<Measured> {
  const script = 'TIMEFORMAT="%U %S"; time "$@" > /dev/null; exit 0'
  let said = ''
  const { seconds } = await timed(async () => {
    said = (await run('bash', ['-c', script, 'bash', program, ...args])).stderr
  })
  const [user, system] = (said.trim().split('\n').at(-1) ?? '').split(' ').map(Number)
  return { seconds, cpu: (user ?? 0) + (system ?? 0) }
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
    ADMIN_PORT: '0',
    LOG_LEVEL: 'info',
    DATABASE_URL: `sqlite:${join(folder, 'bench.sqlite')}`,
    STALL_FILE: join(folder, 'stall'),
  }
  await run(process.execPath, [MAIN, 'feed', 'add', 'networks', '--kind', 'ip', networks], { env })
  const child = spawn(process.execPath, [...SERVE_FLAGS, '--import', STALL, MAIN, 'serve', '--json'], {
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
    /** From here on the peak of the memory is measured anew. */
    forgetPeak: () => writeFile(`/proc/${child.pid}/clear_refs`, '5'),
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

/** What a file of the largest size adds to a service that has just started, when it is sent once, and five times. */
async function sayMemory(folder: string, networks: string, name: keyof typeof FORMS, path: string, type: string) {
  const service = await startService(folder, networks)
  const idle = await service.memory('VmRSS')
  const peaks: number[] = []
  for (let turn = 0; turn < 5; turn += 1) {
    await service.forgetPeak()
    await service.upload(path, type)
    peaks.push((await service.memory('VmHWM')) - idle)
  }
  const stall = await service.stop()
  const [first = 0, ...later] = peaks
  process.stdout.write(
    `256 MiB, ${name}: ${idle.toFixed(0)} MiB idle; the first upload adds ${first.toFixed(0)} MiB, five in a row ${Math.max(...later).toFixed(0)} MiB; longest stall of the event loop ${stall.toFixed(0)} ms\n`,
  )
}

const folder = await mkdtemp(join(tmpdir(), 'bench-'))
try {
  const [path, networks] = [join(folder, 'lines'), join(folder, 'networks.txt')]
  await writeFile(
    networks,
    Array.from({ length: NETWORKS }, () => `${1 + random(223)}.${random(256)}.${random(256)}.0/24\n`).join(''),
  )
  const [machine] = cpus()
  process.stdout.write(
    `${machine?.model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}; median of ${RUNS}\n`,
  )
  for (const [name, form] of Object.entries(FORMS) as [keyof typeof FORMS, Form][]) {
    const type = form.first === '' ? 'application/x-ndjson' : 'application/json'
    await write(path, form, LINES)
    const { size } = await stat(path)
    process.stdout.write(`${LINES} lines, ${name}, ${(size / 1e6).toFixed(0)} MB, ${NETWORKS} networks\n`)
    const service = await startService(await mkdtemp(join(folder, 'service-')), networks)
    const own = await repeated(() => service.upload(path, type))
    const stall = await service.stop()
    say('upload over HTTP', own, size)
    process.stdout.write(`  ${'longest stall of the event loop'.padEnd(46)} ${stall.toFixed(0)} ms\n`)
    const bare = `sed 's/^\\[*"//; s/",*\\]*$//; s/\\\\"/"/g' ${path} > ${folder}/bare.log`
    const goaccess = `goaccess ${folder}/bare.log --log-format=COMBINED -o ${folder}/out.json --no-progress`
    const others: [string, string, string[]][] = [
      ['plain readline, JSON.parse, regular expression', process.execPath, [PLAIN, path]],
    ]
    if (await isThere('grepcidr')) others.push(['grepcidr -c -f', 'grepcidr', ['-c', '-f', networks, path]])
    if (form.first !== '' && (await isThere('goaccess'))) {
      others.push(['GoAccess, the strings bare', 'sh', ['-c', `${bare}; ${goaccess}`]])
    }
    for (const [what, program, args] of others) {
      const other = await repeated(() => timedProgram(program, args))
      say(what, other, size)
      const times = (other.seconds / own.seconds).toFixed(2)
      process.stdout.write(`  ${' '.repeat(46)} ${times} times as fast is the upload\n`)
    }
    await write(path, form, Number.POSITIVE_INFINITY)
    await sayMemory(await mkdtemp(join(folder, 'service-')), networks, name, path, type)
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
