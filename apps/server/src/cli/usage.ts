import type { Command, CommandOption } from './command.ts'

const PROGRAM = 'security-management'

/** How all commands are called. */
export function generalUsage(commands: Command[]): string {
  return [
    `Usage: ${PROGRAM} COMMAND`,
    '',
    ...commands.flatMap((command) => [`  ${callOf(command)}`, `      ${command.about}`]),
    '',
    'Every command takes --json, to print one JSON document, and --help.',
  ].join('\n')
}

/** How one command is called. */
export function usageOf(command: Command): string {
  const options = Object.entries(command.options ?? {})
  const names = options.map(([name, option]) => spelled(name, option))
  const width = Math.max(0, ...names.map((name) => name.length))
  const lines = options.map(([, { about }], index) => `  ${(names[index] ?? '').padEnd(width)}  ${about}`)
  const list = lines.length > 0 ? ['', ...lines] : []
  return [`Usage: ${PROGRAM} ${callOf(command)} [--json]`, '', `  ${command.about}`, ...list].join('\n')
}

function callOf({ name, args = [], options = {} }: Command): string {
  const given = Object.entries(options).map(([option, spec]) => {
    const text = spec.required ? spelled(option, spec) : `[${spelled(option, spec)}]`
    return spec.repeated ? `${text}...` : text
  })
  return [name, ...args, ...given].join(' ')
}

function spelled(name: string, { value }: CommandOption): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`
}
