import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Where the pages say that the service is. */
const ADDRESS = 'http://127.0.0.1:8080'

/** A block of commands on a page, and the block right after it, which shows what they say, if there is one. */
export type Step = { commands: string; shown?: string }

const BLOCKS = /^```(\w+)\n(.*?)^```\n/gms

/** The steps of a page in Markdown: its `sh` blocks, each with the `json`, `text` or `http` block that follows at once. */
export function stepsOf(page: string): Step[] {
  const steps: Step[] = []
  let end = -1
  for (const { 1: language, 2: text = '', 0: whole, index } of page.matchAll(BLOCKS)) {
    if (language === 'sh') steps.push({ commands: text })
    else if (page.slice(end, index).trim() === '' && end >= 0) Object.assign(steps.at(-1) ?? {}, { shown: text })
    end = language === 'sh' ? index + whole.length : -1
  }
  return steps
}

/** The page with what each of its steps really said. What tells nothing new is left as it is. */
export function withAnswers(page: string, said: string[]): string {
  let step = -1
  return page.replace(BLOCKS, (whole, language: string, text: string, at: number) => {
    if (language === 'sh') {
      step += 1
      return whole
    }
    const isAnswer = /```\n\s*$/.test(page.slice(0, at))
    const answer = said[step] ?? ''
    return isAnswer && step >= 0 && !isShown(text, answer) ? `\`\`\`${language}\n${answer}\`\`\`\n` : whole
  })
}

const run = promisify(execFile)

/**
 * Runs the commands of a page one after the other in one shell, in the directory `cwd`, against the service at `address`.
 *
 * @param token stands for the one that the reader has, where the page says `export TOKEN=sms_…`.
 * @returns what each step said.
 */
export async function runSteps(
  steps: Step[],
  where: { cwd: string; address: string; token: string },
): Promise<string[]> {
  const script = steps
    .map(({ commands }) =>
      commands.replaceAll(ADDRESS, where.address).replaceAll(/sms_…/g, where.token).concat("\nprintf '\\f'\n"),
    )
    .join('')
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: where.cwd, maxBuffer: 2 ** 26 })
  return stdout
    .split('\f')
    .slice(0, -1)
    .map((said) => ended(said.replaceAll(where.address, ADDRESS)))
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** What differs from run to run. */
const VOLATILE: [what: RegExp, instead: string][] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UUID'],
  [/sm[si]_[0-9A-Za-z]{6,}/g, 'SECRET'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
  [/\b[0-9a-f]{64}\b/g, 'HASH'],
  [/\b[0-9a-f]{32}\b/g, 'OPAQUE'],
  [/"[A-Za-z0-9_-]{22,}"/g, '"OPAQUE"'],
  [/\b1[78]\d{8}\b/g, 'SECONDS'],
  [/^(?:Date|date): .*$/gm, 'date'],
]

/** What a text tells, whenever and wherever it was run. */
export function told(text: string): string {
  return VOLATILE.reduce((rest, [what, instead]) => rest.replace(what, instead), text).trim()
}

/** Whether the page shows what was said; `…` on the page stands for anything. */
export function isShown(shown: string, said: string): boolean {
  const parts = told(shown)
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^]*')}$`).test(told(said))
}
