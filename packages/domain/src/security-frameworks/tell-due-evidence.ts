import { OPERATOR } from '../access/caller.ts'
import { record } from '../events.ts'
import type { Needs } from '../ports.ts'
import { type Cron, parseCron } from '../values.ts'
import type { ScheduledControl } from './security-framework-store.ts'

const PAGE = 500
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** How far ahead a schedule is looked at: 29 February recurs within 8 years. */
const HORIZON = 8 * 366 * DAY

/**
 * Tells those who may attach evidence of every control whose evidence has fallen due since the last completed one, once
 * for each due time, whichever process looks first.
 *
 * @returns how many were told of.
 */
export async function tellDueEvidence(ports: Needs<'transact' | 'now'>): Promise<number> {
  let told = 0
  for (let offset = 0; ; offset += PAGE) {
    const page = await ports.transact((stores) => stores.securityFrameworks.listScheduled(offset, PAGE))
    for (const control of page) if (await tell(ports, control)) told += 1
    if (page.length < PAGE) return told
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
  let time = Math.floor(after.getTime() / MINUTE) * MINUTE + MINUTE
  const end = time + HORIZON
  while (time < end) {
    const date = new Date(time)
    if (!isDay(cron, date)) time = Math.floor(time / DAY) * DAY + DAY
    else if (!cron.hours.has(date.getUTCHours())) time = Math.floor(time / (60 * MINUTE)) * 60 * MINUTE + 60 * MINUTE
    else if (!cron.minutes.has(date.getUTCMinutes())) time += MINUTE
    else return date
  }
  return undefined
}

/** As cron has it: where both day fields are restricted, either may fit. */
function isDay(cron: Cron, date: Date): boolean {
  if (!cron.months.has(date.getUTCMonth() + 1)) return false
  const day = cron.days.has(date.getUTCDate())
  const weekday = cron.weekdays.has(date.getUTCDay()) || (date.getUTCDay() === 0 && cron.weekdays.has(7))
  return cron.eitherDay ? day || weekday : day && weekday
}
