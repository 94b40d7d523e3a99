import { DomainError } from '../errors.ts'
import { addressText } from './line-addresses.ts'
import { createLineMarks } from './line-marks.ts'
import type { TrafficLine } from './line-reader.ts'
import {
  type Judge,
  MANY,
  type RejectedLine,
  SLOT,
  type SlotCount,
  type ThreatCount,
  type TrafficReading,
} from './traffic-reading.ts'
import { createTrafficScanner } from './traffic-scanner.ts'

/** Rejected lines of a file that are kept as samples. */
const MAX_REJECTS = 20

/** Sources and hosts of one file that are told apart; further ones count together, under `MANY`. */
const MAX_THREATS = 20_000

/** Five-minute slots that one file may touch, about two years without a gap. */
const MAX_SLOTS = 200_000

/** See `CreateTrafficReading`. */
export function createTrafficReading(judge: Judge, known?: Uint8Array): TrafficReading {
  const marks = createLineMarks(known)
  const slots = new Map<number, SlotCount>()
  const threats = new Map<string, ThreatCount>()
  const rejects: RejectedLine[] = []
  let accepted = 0
  let rejected = 0
  let malicious = 0
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  // Lines that follow each other are mostly of one slot.
  let slot: SlotCount = { start: Number.NaN, total: 0, malicious: 0 }

  function slotAt(start: number): SlotCount {
    const known = slots.get(start)
    if (known) return known
    if (slots.size >= MAX_SLOTS) {
      throw new DomainError('invalid', [
        { path: '', message: `More than ${MAX_SLOTS} different times of five minutes` },
      ])
    }
    const made = { start, total: 0, malicious: 0 }
    slots.set(start, made)
    return made
  }

  /** Notes why the line is malicious; false if that was known before. */
  function isNew(kind: ThreatCount['kind'], line: TrafficLine, finding: number): boolean {
    const place = accepted + rejected
    if (marks.has(place)) return false
    marks.add(place)
    noteThreat(kind, line, finding)
    return true
  }

  function noteThreat(kind: ThreatCount['kind'], line: TrafficLine, finding: number): void {
    const value = kind === 'host' ? hostText(line) : addressText(line.client)
    const reason = kind === 'verdict' ? line.verdict : String(finding)
    const key = `${kind} ${reason} ${value}`
    let threat = threats.get(key)
    if (!threat && threats.size >= MAX_THREATS) threat = threats.get(`${kind} ${reason} ${MANY}`)
    if (!threat) {
      const isMany = threats.size >= MAX_THREATS
      threat = {
        kind,
        value: isMany ? MANY : value,
        finding: kind === 'verdict' ? null : judge.explain(finding),
        verdict: kind === 'verdict' ? line.verdict : null,
        requests: 0,
        first_seen: line.time,
        last_seen: line.time,
      }
      threats.set(isMany ? `${kind} ${reason} ${MANY}` : key, threat)
    }
    threat.requests += 1
    if (line.time < threat.first_seen) threat.first_seen = line.time
    if (line.time > threat.last_seen) threat.last_seen = line.time
  }

  /** Whether the line is malicious; its strongest reason is a feed that knows the source, then one that knows the host. */
  function isMalicious(line: TrafficLine): boolean {
    const source = line.client.kind === 0 ? -1 : judge.address(line.client)
    if (source >= 0) return isNew('address', line, source)
    const host = line.hostLength === 0 ? -1 : judge.host(line.host, line.hostLength)
    if (host >= 0) return isNew('host', line, host)
    return line.verdict !== '' && isNew('verdict', line, -1)
  }

  const scanner = createTrafficScanner({
    accept(line) {
      const { time } = line
      if (time < from) from = time
      if (time > to) to = time
      const start = Math.floor(time / (SLOT * 1000)) * SLOT
      if (slot.start !== start) slot = slotAt(start)
      slot.total += 1
      if (isMalicious(line)) {
        malicious += 1
        slot.malicious += 1
      }
      accepted += 1
    },
    reject({ field, reason }, blankRows) {
      rejected += 1
      if (rejects.length < MAX_REJECTS) rejects.push({ line: accepted + rejected + blankRows, field, reason })
    },
  })

  return {
    push: scanner.push,
    end() {
      const { shape } = scanner.end()
      const found = [...threats.values()]
      const [first = null, ...others] = found
      return {
        shape,
        lines: accepted + rejected,
        accepted,
        rejected,
        malicious,
        from: accepted > 0 ? from : null,
        to: accepted > 0 ? to : null,
        rejects,
        // Sorted here, where nobody waits for it: in one order, two uploads to one blocker do not deadlock.
        slots: [...slots.values()].sort((one, other) => one.start - other.start),
        threats: found.sort(byKey),
        strongest: first && others.reduce((a, b) => (b.requests > a.requests ? b : a), first),
        judgement: { version: judge.version, malicious_lines: marks.bytes() },
      }
    },
  }
}

function byKey(one: ThreatCount, other: ThreatCount): number {
  return (
    compare(one.kind, other.kind) ||
    compare(one.value, other.value) ||
    compare(one.finding?.feed ?? '', other.finding?.feed ?? '') ||
    compare(one.finding?.entry ?? '', other.finding?.entry ?? '') ||
    compare(one.verdict ?? '', other.verdict ?? '')
  )
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

function hostText({ host, hostLength }: TrafficLine): string {
  let text = ''
  for (let index = 0; index < hostLength; index += 1) {
    const byte = host[index] as number
    // What stands in a log need not be a name, and is shown to people.
    text += byte > 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '?'
  }
  return text
}
