import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { withoutSecrets } from '../src/log.ts'
import { temporaryDirectory } from './support/program.ts'

const SECRET = 'Q'.repeat(49)

test.each([
  [`GET /api/v1/me?X-Service-Token=sms_${SECRET}&a=b`, 'GET /api/v1/me?X-Service-Token=sms_[hidden]&a=b'],
  [`the code smi_${SECRET}, percent-encoded smi%5F${SECRET}`, 'the code smi_[hidden], percent-encoded smi%5F[hidden]'],
])('the log hides tokens and codes in what it is told: %s', (text, hidden) => {
  expect(withoutSecrets(text)).toBe(hidden)
})

test('the log shows the beginning of a token, by which its owner recognises it', () => {
  expect(withoutSecrets('token sms_skeUEq was used')).toBe('token sms_skeUEq was used')
})

test('a reader of the log that has stopped stops nothing; what could not be kept is counted', async () => {
  const { path, remove } = await temporaryDirectory()
  const program = `
    import { createServingLog } from ${JSON.stringify(new URL('../src/log.ts', import.meta.url).href)}
    const { log, dropped } = createServingLog('info', 1_000_000)
    for (let count = 0; count < 20_000; count += 1) log.info({ count, filler: 'x'.repeat(100) }, 'line')
    setTimeout(() => process.stdout.write(String(dropped())), 100)
    process.once('SIGUSR2', () => setTimeout(() => {
      log.fatal('the last line')
      process.exit(3)
    }, 1000))
    setInterval(() => {}, 1000)`
  await writeFile(`${path}/program.ts`, program)
  const child = spawn(process.execPath, ['--conditions=source', `${path}/program.ts`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [dropped] = await once(child.stdout.setEncoding('utf8'), 'data')
  expect(Number(dropped)).toBeGreaterThan(5000)
  let text = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
  })
  child.kill('SIGUSR2')
  const [code] = await once(child, 'close')
  expect(code).toBe(3)
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.slice(0, 3)).toMatchObject([{ count: 0 }, { count: 1 }, { count: 2 }])
  expect(lines.filter(({ msg }) => msg === 'line')).toHaveLength(20_000 - Number(dropped))
  expect(lines.slice(-2)).toMatchObject([{ level: 40, dropped: Number(dropped) }, { msg: 'the last line' }])
  await remove()
})
