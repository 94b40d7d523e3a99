import { OPERATOR } from '../access/caller.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'
import { type Cron, parseCron } from '../values.ts'
import type { ScheduledControl, ScheduledPlace } from './security-framework-store.ts'

const PAGE = 500
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** How far ahead a schedule is looked at: 29 February recurs within 8 years. */
const HORIZON = 8 * 366 * DAY

/** Controls that are looked at in one turn of the event loop: a few milliseconds. */
const TURN = 50

/**
 * Tells those who may attach evidence of every control whose evidence has fallen due since the last completed one, once
 * for each due time, whichever process looks first.
 *
 * @returns how many were told of.
 */
export async function tellDueEvidence(
  ports: Needs<'transact' | 'securityFrameworks' | 'now' | 'nextTurn'>,
): Promise<number> {
  let told = 0
  for (let after: ScheduledPlace = { framework: 0, position: 0 }; ; ) {
    const page = await ports.securityFrameworks.listScheduled(after, PAGE)
    for (const [index, control] of page.entries()) {
      if (index % TURN === 0) await ports.nextTurn()
      if (await tell(ports, control)) told += 1
    }
    const last = page.at(-1)
    if (!last || page.length < PAGE) return told
    after = last
  }
}

async function tell(ports: Needs<'transact' | 'now'>, scheduled: ScheduledControl): Promise<boolean> {
  const cron = parseCron(scheduled.frequency)
  const due = cron && nextTime(cron, new Date(scheduled.since))?.toISOString()
  if (!due || due > ports.now().toISOString() || (scheduled.told !== null && scheduled.told >= due)) return false
  const { organization, framework, control, title } = scheduled
  return ports.transact(async (stores) => {
    if (!(await stores.securityFrameworks.noteTold(framework, control, due))) return false
    const details = { control, title, due }
    await record(ports, stores, OPERATOR, { type: 'evidence.due', organization, record: framework, details })
    return true
  })
}

/** The first minute after `after` that the schedule names, in UTC; undefined if there is none within 8 years. */
export function nextTime(cron: Cron, after: Date): Date | undefined {
  if (!everComes(cron)) return undefined
  let time = Math.floor(after.getTime() / MINUTE) * MINUTE + MINUTE
  const end = time + HORIZON
  while (time < end) {
    const date = new Date(time)
    if (!cron.months.has(date.getUTCMonth() + 1)) time = (Math.floor(time / DAY) + daysLeft(date)) * DAY
    else if (!isDay(cron, date)) time = Math.floor(time / DAY) * DAY + DAY
    else if (!cron.hours.has(date.getUTCHours())) time = Math.floor(time / (60 * MINUTE)) * 60 * MINUTE + 60 * MINUTE
    else if (!cron.minutes.has(date.getUTCMinutes())) time += MINUTE
    else return date
  }
  return undefined
}

/** Whether any of the months can have any of the days. */
function everComes({ days, months, eitherDay }: Cron): boolean {
  const longest = Math.max(...[...months].map((month) => (month === 2 ? 29 : lengthOf(month))))
  return eitherDay || [...days].some((day) => day <= longest)
}

/** Days of a month, 1 to 12, in a year that is no leap year. */
function lengthOf(month: number): number {
  return month === 2 ? 28 : [4, 6, 9, 11].includes(month) ? 30 : 31
}

/** Days of the date's month from the date on, itself included. */
function daysLeft(date: Date): number {
  return Math.max(1, lengthOf(date.getUTCMonth() + 1) - date.getUTCDate() + 1)
}

/** As cron has it: where both day fields are restricted, either may fit. */
function isDay(cron: Cron, date: Date): boolean {
  const day = cron.days.has(date.getUTCDate())
  const weekday = cron.weekdays.has(date.getUTCDay()) || (date.getUTCDay() === 0 && cron.weekdays.has(7))
  return cron.eitherDay ? day || weekday : day && weekday
}
