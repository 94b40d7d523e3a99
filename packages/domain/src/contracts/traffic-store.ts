import { describe, expect, test } from 'vitest'
import type { Ports } from '../ports.ts'
import { type RequestCount, THREAT_ORDER, TRAFFIC_UPLOAD_ORDER } from '../traffic/traffic-store.ts'
import type { NewTrafficUpload } from '../traffic/traffic-upload.ts'
import { aBlocker, anUpload, aSha256, aThreat, NO_ID, ODD_TEXT, storeOrganization } from './builders.ts'
import { NOW, type Open, openFresh, openOnce } from './opened.ts'
import { all, expectOrderAndPages, expectRolledBack, fulfilled, tenAtOnce } from './paging.ts'

const HOUR = 3600
const DAY = 24 * HOUR
/** 2026-03-01T00:00:00Z */
const MIDNIGHT = Date.parse('2026-03-01T00:00:00.000Z') / 1000

/** The suite that every adapter of `TrafficStore` must pass. `open` gives empty stores, new at every call. */
export function trafficStoreContract(adapter: string, open: Open): void {
  describe(`TrafficStore contract: ${adapter}`, () => {
    const opened = openOnce(open)

    async function storeBlocker(): Promise<number> {
      const organization = await storeOrganization(opened.ports)
      return opened.ports.transact(({ threatBlockers }) => threatBlockers.insert(aBlocker({ organization })))
    }
    async function upload(part: Parameters<typeof anUpload>[0]): Promise<number | undefined> {
      return opened.ports.transact(({ traffic }) => traffic.insertUpload(anUpload(part)))
    }
    /** Counts of hours, each `[start, total, malicious]`. */
    async function addHours(id: number, ...hours: [start: number, total: number, malicious: number][]): Promise<void> {
      const counts = hours.map(([start, total, malicious]) => ({ start, total, malicious, found_later: 0 }))
      await opened.ports.transact(({ traffic }) => traffic.addSlots(id, counts))
    }

    test('every field comes back as it was stored, by id and by hash', async () => {
      const threat_blocker = await storeBlocker()
      const counts = { lines: Number.MAX_SAFE_INTEGER, accepted: 3_000_000_000, rejected: 0, malicious: 0 }
      const {
        threat_blocker: _,
        raw: _raw,
        judgement: _judgement,
        ...shown
      } = anUpload({
        threat_blocker,
        file_name: ODD_TEXT,
        size: Number.MAX_SAFE_INTEGER,
        received: '2026-02-28T23:59:59.999Z',
        ...counts,
      })
      const id = await upload({ threat_blocker, ...shown })
      expect(id).toBeGreaterThanOrEqual(1)
      const { traffic } = opened.ports
      expect(await traffic.findUpload(threat_blocker, id ?? 0)).toEqual({ id, ...shown, found_later: 0 })
      expect(await traffic.findUploadBySha256(threat_blocker, shown.sha256)).toEqual({ id, ...shown, found_later: 0 })
      expect(await traffic.listUploads(threat_blocker, all('id'))).toEqual({
        total: 1,
        data: [{ id, ...shown, found_later: 0 }],
      })
    })

    test('the bytes of an upload are known until they are given up', async () => {
      const threat_blocker = await storeBlocker()
      const stage = () => opened.ports.files.stage(bytesOf('abc'), 10)
      const [early, late] = [await stage(), await stage()]
      const raw = ({ file, size }: typeof early) => ({ file, size })
      const before = await upload({ threat_blocker, raw: raw(early), received: '2026-02-01T00:00:00.000Z' })
      const after = await upload({ threat_blocker, raw: raw(late), received: '2026-02-02T00:00:00.000Z' })
      const { traffic } = opened.ports
      expect(await traffic.findRaw(threat_blocker, before ?? 0)).toEqual(raw(early))
      expect(await traffic.findRaw(await storeBlocker(), before ?? 0)).toBeUndefined()
      await opened.ports.transact((stores) => stores.traffic.forgetRaw('2026-02-02T00:00:00.000Z'))
      expect(await traffic.findRaw(threat_blocker, before ?? 0)).toBeUndefined()
      expect(await traffic.findRaw(threat_blocker, after ?? 0)).toEqual(raw(late))
      expect(await traffic.findRaw(threat_blocker, (await upload({ threat_blocker })) ?? 0)).toBeUndefined()
      // The sweep takes what nobody names, and that alone.
      await opened.ports.files.sweep('9999-01-01T00:00:00.000Z')
      expect(await collected(opened.ports.files.read(late.file, 0, 2))).toBe('abc')
      expect(await collected(opened.ports.files.read(early.file, 0, 2)).catch(() => '')).toBe('')
    })

    test('the kept bytes of all uploads of an organization add up, with those of removed blockers', async () => {
      const organization = await storeOrganization(opened.ports)
      const { threatBlockers, traffic } = opened.ports
      const blockers: number[] = []
      for (const size of [5, 2 ** 40]) {
        const blocker = await opened.ports.transact((stores) =>
          stores.threatBlockers.insert(aBlocker({ organization })),
        )
        const { file } = await opened.ports.files.stage(bytesOf('abc'), 10)
        await upload({ threat_blocker: blocker, raw: { file, size } })
        await upload({ threat_blocker: blocker, raw: null })
        blockers.push(blocker)
      }
      const { file, size } = await opened.ports.files.stage(bytesOf('abc'), 10)
      await upload({ threat_blocker: await storeBlocker(), raw: { file, size } })
      await opened.ports.transact((stores) =>
        stores.threatBlockers.remove(blockers[0] ?? 0, '2026-03-01T00:00:00.000Z'),
      )
      expect(await threatBlockers.idsOf([organization])).toEqual(blockers.slice(1))
      expect(await traffic.rawSizeOf(organization)).toBe(2 ** 40 + 5)
      expect(await traffic.rawSizeOf(NO_ID)).toBe(0)
    })

    test('an upload is found under its own blocker alone', async () => {
      const [one, other] = [await storeBlocker(), await storeBlocker()]
      const sha256 = aSha256()
      const id = (await upload({ threat_blocker: one, sha256 })) ?? 0
      const { traffic } = opened.ports
      expect(await traffic.findUpload(other, id)).toBeUndefined()
      expect(await traffic.findUploadBySha256(other, sha256)).toBeUndefined()
      expect(await traffic.findUpload(one, NO_ID)).toBeUndefined()
      expect(await traffic.findUpload(NO_ID, id)).toBeUndefined()
      expect(await traffic.findUploadBySha256(one, aSha256())).toBeUndefined()
      expect(await traffic.listUploads(other, all('id'))).toEqual({ total: 0, data: [] })
      expect(await traffic.listUploads(NO_ID, all('id'))).toEqual({ total: 0, data: [] })
    })

    test('the same bytes count once for a blocker, and again for another', async () => {
      const [one, other] = [await storeBlocker(), await storeBlocker()]
      const sha256 = aSha256()
      const first = await upload({ threat_blocker: one, sha256, file_name: 'first.json' })
      expect(await upload({ threat_blocker: one, sha256, file_name: 'second.json' })).toBeUndefined()
      expect(await upload({ threat_blocker: other, sha256 })).toBeDefined()
      expect(await opened.ports.traffic.findUploadBySha256(one, sha256)).toMatchObject({
        id: first,
        file_name: 'first.json',
      })
    })

    test('a repeated upload does not spoil the unit that tried it', async () => {
      const threat_blocker = await storeBlocker()
      const sha256 = aSha256()
      await upload({ threat_blocker, sha256 })
      const next = await opened.ports.transact(async ({ traffic }) => {
        expect(await traffic.insertUpload(anUpload({ threat_blocker, sha256 }))).toBeUndefined()
        return traffic.insertUpload(anUpload({ threat_blocker }))
      })
      expect(await opened.ports.traffic.findUpload(threat_blocker, next ?? 0)).toBeDefined()
    })

    test('lists the uploads of a blocker in every order and by pages', async () => {
      const threat_blocker = await storeBlocker()
      const rows = []
      for (const day of [3, 1, 2, 1, 3, 2]) {
        const received = `2026-02-0${day}T00:00:00.000Z`
        rows.push({ id: (await upload({ threat_blocker, received })) ?? 0, received })
      }
      await upload({ threat_blocker: await storeBlocker() })
      await expectOrderAndPages(
        TRAFFIC_UPLOAD_ORDER,
        rows,
        (page) => opened.ports.traffic.listUploads(threat_blocker, page),
        ({ id }) => id,
      )
    })

    test('counts come by the hour and by the day, oldest first', async () => {
      const id = await storeBlocker()
      await addHours(id, [MIDNIGHT + HOUR, 5, 1], [MIDNIGHT, 3, 0], [MIDNIGHT - HOUR, 2, 2])
      expect(await opened.ports.traffic.counts([id])).toEqual(
        new Map([
          [
            id,
            {
              hours: [
                { start: MIDNIGHT - HOUR, total: 2, malicious: 2 },
                { start: MIDNIGHT, total: 3, malicious: 0 },
                { start: MIDNIGHT + HOUR, total: 5, malicious: 1 },
              ],
              days: [
                { start: MIDNIGHT - DAY, total: 2, malicious: 2 },
                { start: MIDNIGHT, total: 8, malicious: 1 },
              ],
            },
          ],
        ]),
      )
    })

    test('counts of the same hour add up', async () => {
      const id = await storeBlocker()
      await addHours(id, [MIDNIGHT, 3, 1])
      await addHours(id, [MIDNIGHT + HOUR, 1, 0], [MIDNIGHT, 4, 2])
      await addHours(id)
      const { hours } = (await opened.ports.traffic.counts([id])).get(id) ?? {}
      expect(hours).toEqual([
        { start: MIDNIGHT, total: 7, malicious: 3 },
        { start: MIDNIGHT + HOUR, total: 1, malicious: 0 },
      ])
    })

    test('the hours are those among the 24 that end with the newest', async () => {
      const id = await storeBlocker()
      await addHours(
        id,
        ...[0, 1, 2, 23, 24, 25].map((back): [number, number, number] => [MIDNIGHT - back * HOUR, 1, 0]),
      )
      const { hours = [] } = (await opened.ports.traffic.counts([id])).get(id) ?? {}
      expect(hours.map(({ start }) => (MIDNIGHT - start) / HOUR)).toEqual([23, 2, 1, 0])
    })

    test('the days are the newest 30 that have traffic, gaps left out', async () => {
      const id = await storeBlocker()
      const days = Array.from({ length: 35 }, (_, index) => MIDNIGHT - index * 2 * DAY)
      await addHours(id, ...days.map((start, index): [number, number, number] => [start + 5 * HOUR, index + 1, 0]))
      const { days: found = [] } = (await opened.ports.traffic.counts([id])).get(id) ?? {}
      expect(found).toHaveLength(30)
      expect(found[0]).toEqual({ start: MIDNIGHT - 58 * DAY, total: 30, malicious: 0 })
      expect(found.at(-1)).toEqual({ start: MIDNIGHT, total: 1, malicious: 0 })
    })

    test('each day is that of all its slots, for each blocker its own newest days', async () => {
      const [one, two] = [await storeBlocker(), await storeBlocker()]
      // Days of five slots, the first and the last among them, behind gaps of one day, two days and so on; over 1970.
      const daysUntil = (last: number) =>
        Array.from({ length: 40 }, (_, index) => last - (index + (index * (index + 1)) / 2) * DAY)
      const within = [0, 300, DAY / 2, DAY - 600, DAY - 300]
      for (const [id, last] of [
        [one, MIDNIGHT],
        [two, 20 * DAY],
      ] as const) {
        const slots = daysUntil(last).flatMap((day, index) =>
          within.map((second): [number, number, number] => [day + second, index + 1, second === 0 ? 1 : 0]),
        )
        await addHours(id, ...slots)
      }
      const counts = await opened.ports.traffic.counts([two, one, two])
      for (const [id, last] of [
        [one, MIDNIGHT],
        [two, 20 * DAY],
      ] as const) {
        const shown = daysUntil(last).slice(0, 30)
        const expected = shown.map((start, index) => ({ start, total: 5 * (index + 1), malicious: 1 })).toReversed()
        expect(counts.get(id)?.days).toEqual(expected)
        expect(counts.get(id)?.hours.map(({ start, total }) => [start - last, total])).toEqual([
          [0, 2],
          [DAY / 2, 1],
          [DAY - HOUR, 2],
        ])
      }
    })

    test('hours before 1970 and far in the future belong to their own days', async () => {
      const id = await storeBlocker()
      const year9999 = Date.parse('9999-12-31T23:00:00.000Z') / 1000
      const year0 = Date.parse('0000-01-01T00:00:00.000Z') / 1000
      await addHours(id, [year0, 1, 0], [-HOUR, 1, 1], [-DAY - HOUR, 1, 0], [0, 1, 0], [year9999, 1, 0])
      const { hours, days = [] } = (await opened.ports.traffic.counts([id])).get(id) ?? {}
      expect(hours).toEqual([{ start: year9999, total: 1, malicious: 0 }])
      expect(days.map(({ start }) => start)).toEqual([year0, -2 * DAY, -DAY, 0, year9999 - 23 * HOUR])
    })

    test('counts are those of the blockers asked for that have any', async () => {
      const [one, two, none, other] = [
        await storeBlocker(),
        await storeBlocker(),
        await storeBlocker(),
        await storeBlocker(),
      ]
      await addHours(one, [MIDNIGHT, 1, 0])
      await addHours(two, [MIDNIGHT - 40 * DAY, 2, 1])
      await addHours(other, [MIDNIGHT, 4, 0])
      const counts = await opened.ports.traffic.counts([one, two, none, NO_ID])
      expect([...counts.keys()].toSorted((a, b) => a - b)).toEqual([one, two])
      expect(counts.get(two)?.hours).toEqual([{ start: MIDNIGHT - 40 * DAY, total: 2, malicious: 1 }])
      expect((await opened.ports.traffic.counts([])).size).toBe(0)
    })

    test('counts of more blockers than are read at once', async () => {
      const ids: number[] = []
      for (let index = 0; index < 120; index += 1) {
        const id = await storeBlocker()
        await addHours(id, [MIDNIGHT, index + 1, 0])
        ids.push(id)
      }
      const counts = await opened.ports.traffic.counts(ids)
      const day = (index: number) => [{ start: MIDNIGHT, total: index + 1, malicious: 0 }]
      expect(counts).toEqual(new Map(ids.map((id, index) => [id, { hours: day(index), days: day(index) }])))
    })

    test('counts can be larger than 32 bits', async () => {
      const id = await storeBlocker()
      await addHours(id, [MIDNIGHT, 5_000_000_000, 3_000_000_000])
      await addHours(id, [MIDNIGHT, 5_000_000_000, 0], [MIDNIGHT + HOUR, 1, 0])
      const { days } = (await opened.ports.traffic.counts([id])).get(id) ?? {}
      expect(days).toEqual([{ start: MIDNIGHT, total: 10_000_000_001, malicious: 3_000_000_000 }])
    })

    test('many hours are taken in at once', async () => {
      const id = await storeBlocker()
      const hours = Array.from({ length: 3000 }, (_, index): [number, number, number] => [
        MIDNIGHT + index * HOUR,
        1,
        0,
      ])
      await addHours(id, ...hours)
      const { days = [] } = (await opened.ports.traffic.counts([id])).get(id) ?? {}
      expect(days).toHaveLength(30)
      expect(days[0]?.total).toBe(24)
    })

    test('what is returned can be edited without changing what is stored', async () => {
      const id = await storeBlocker()
      await addHours(id, [MIDNIGHT, 1, 0])
      const [hour] = (await opened.ports.traffic.counts([id])).get(id)?.hours ?? []
      if (hour) hour.total = 99
      const upload1 = (await upload({ threat_blocker: id, file_name: 'a.json' })) ?? 0
      const found = await opened.ports.traffic.findUpload(id, upload1)
      if (found) found.file_name = 'evil.json'
      expect((await opened.ports.traffic.counts([id])).get(id)?.hours).toEqual([
        { start: MIDNIGHT, total: 1, malicious: 0 },
      ])
      expect((await opened.ports.traffic.findUpload(id, upload1))?.file_name).toBe('a.json')
    })

    test('nothing is kept of a unit of work that fails', async () => {
      const threat_blocker = await storeBlocker()
      await addHours(threat_blocker, [MIDNIGHT, 1, 0])
      await expectRolledBack(
        opened.ports,
        async ({ traffic }) => {
          await traffic.insertUpload(anUpload({ threat_blocker }))
          await traffic.addSlots(threat_blocker, [{ start: MIDNIGHT, total: 5, malicious: 5, found_later: 0 }])
        },
        async () => [
          await opened.ports.traffic.counts([threat_blocker]),
          await opened.ports.traffic.listUploads(threat_blocker, all('id')),
        ],
      )
    })

    test('ten uploads of the same bytes at once: exactly one is stored', async () => {
      const threat_blocker = await storeBlocker()
      const sha256 = aSha256()
      const results = fulfilled(await tenAtOnce(() => upload({ threat_blocker, sha256 })))
      expect(results).toHaveLength(10)
      expect(results.filter((id) => id !== undefined)).toHaveLength(1)
      expect((await opened.ports.traffic.listUploads(threat_blocker, all('id'))).total).toBe(1)
    })

    test('ten additions to the same hours at once add up', async () => {
      const id = await storeBlocker()
      const results = await tenAtOnce((index) => {
        const hours: [number, number, number][] = [
          [MIDNIGHT, 10, 1],
          [MIDNIGHT + HOUR, 1, 0],
        ]
        return addHours(id, ...(index % 2 ? hours : hours.toReversed()))
      })
      expect(fulfilled(results)).toHaveLength(10)
      expect((await opened.ports.traffic.counts([id])).get(id)?.hours).toEqual([
        { start: MIDNIGHT, total: 100, malicious: 10 },
        { start: MIDNIGHT + HOUR, total: 10, malicious: 0 },
      ])
    })

    test('ten additions to different slots of the same hours and days at once add up', async () => {
      const id = await storeBlocker()
      const results = await tenAtOnce((index) =>
        addHours(id, [MIDNIGHT + index * 300, 10, 1], [MIDNIGHT - DAY + index * 300, 1, 0]),
      )
      expect(fulfilled(results)).toHaveLength(10)
      expect((await opened.ports.traffic.counts([id])).get(id)).toEqual({
        hours: [{ start: MIDNIGHT, total: 100, malicious: 10 }],
        days: [
          { start: MIDNIGHT - DAY, total: 10, malicious: 0 },
          { start: MIDNIGHT, total: 100, malicious: 10 },
        ],
      })
    })

    test('statistics add up the slots of all blockers asked for, by units of any length, within the period alone', async () => {
      const [one, two, other] = [await storeBlocker(), await storeBlocker(), await storeBlocker()]
      await addHours(one, [MIDNIGHT - 300, 1, 1], [MIDNIGHT, 2, 0], [MIDNIGHT + 3300, 4, 1], [MIDNIGHT + HOUR, 8, 0])
      await addHours(two, [MIDNIGHT + 300, 16, 2])
      await addHours(other, [MIDNIGHT, 99, 99])
      const { traffic } = opened.ports
      expect(await traffic.statistics([one, two, NO_ID], MIDNIGHT, MIDNIGHT + HOUR, HOUR)).toEqual([
        { start: MIDNIGHT, total: 22, malicious: 3, found_later: 0 },
      ])
      expect(await traffic.statistics([one, two], MIDNIGHT - DAY, MIDNIGHT + DAY, DAY)).toEqual([
        { start: MIDNIGHT - DAY, total: 1, malicious: 1, found_later: 0 },
        { start: MIDNIGHT, total: 30, malicious: 3, found_later: 0 },
      ])
      expect(await traffic.statistics([two, one], MIDNIGHT, MIDNIGHT + 600, 300)).toEqual([
        { start: MIDNIGHT, total: 2, malicious: 0, found_later: 0 },
        { start: MIDNIGHT + 300, total: 16, malicious: 2, found_later: 0 },
      ])
      expect(await traffic.statistics([], MIDNIGHT, MIDNIGHT + DAY, 300)).toEqual([])
    })

    test.each([300, HOUR, DAY])(
      'statistics of many blockers by units of %i seconds add up, oldest first',
      async (unit) => {
        const { traffic } = opened.ports
        const ids: number[] = []
        for (let index = 0; index < 12; index += 1) {
          const id = await storeBlocker()
          const once = MIDNIGHT - (index + 1) * unit
          await addHours(id, [once, 1, 1], [MIDNIGHT, 10, 0])
          ids.push(id)
        }
        // So many units that a statement reads all blockers, some, or one at a time.
        for (const units of [100, 9000, 100_000]) {
          const found = await traffic.statistics(ids, MIDNIGHT - units * unit, MIDNIGHT + unit, unit)
          expect(found.map(({ start, total, malicious }) => [(MIDNIGHT - start) / unit, total, malicious])).toEqual([
            ...Array.from({ length: 12 }, (_, index) => [12 - index, 1, 1]),
            [0, 120, 0],
          ])
        }
      },
    )

    test('statistics before 1970 fall into the units that they lie in', async () => {
      const id = await storeBlocker()
      await addHours(id, [-300, 1, 0], [-DAY, 2, 0], [0, 4, 0])
      expect(await opened.ports.traffic.statistics([id], -DAY, DAY, DAY)).toEqual([
        { start: -DAY, total: 3, malicious: 0, found_later: 0 },
        { start: 0, total: 4, malicious: 0, found_later: 0 },
      ])
      expect(await opened.ports.traffic.statistics([id], -HOUR, 0, HOUR)).toEqual([
        { start: -HOUR, total: 1, malicious: 0, found_later: 0 },
      ])
    })

    test('what is found later is malicious at its own time, marked, and adds no request', async () => {
      const id = await storeBlocker()
      await addHours(id, [MIDNIGHT, 10, 1])
      const later = { start: MIDNIGHT, total: 0, malicious: 3, found_later: 3 }
      const add = () => opened.ports.transact(({ traffic }) => traffic.addSlots(id, [later]))
      await add()
      await add()
      expect(await opened.ports.traffic.statistics([id], MIDNIGHT, MIDNIGHT + HOUR, HOUR)).toEqual([
        { start: MIDNIGHT, total: 10, malicious: 7, found_later: 6 },
      ])
      expect(await opened.ports.traffic.statistics([id], MIDNIGHT, MIDNIGHT + DAY, DAY)).toEqual([
        { start: MIDNIGHT, total: 10, malicious: 7, found_later: 6 },
      ])
      const shown = [{ start: MIDNIGHT, total: 10, malicious: 7 }]
      expect((await opened.ports.traffic.counts([id])).get(id)).toEqual({ hours: shown, days: shown })
    })

    test('hours and days of a thousand slots that come in any order, twice, are what their slots come to', async () => {
      const id = await storeBlocker()
      // Every day has a slot in each part that is stored at a time.
      const slots = Array.from({ length: 1000 }, (_, index) => ({
        start: MIDNIGHT + (index % 7) * DAY + Math.floor(index / 7) * 300,
        total: index,
        malicious: index % 3,
        found_later: index % 2,
      }))
      await opened.ports.transact(({ traffic }) => traffic.addSlots(id, slots))
      await opened.ports.transact(({ traffic }) => traffic.addSlots(id, slots.toReversed()))
      const { traffic } = opened.ports
      const by = (seconds: number) => traffic.statistics([id], MIDNIGHT, MIDNIGHT + 7 * DAY, seconds)
      const stored = await by(300)
      expect(stored.reduce((sum, { total }) => sum + total, 0)).toBe(2 * 499_500)
      for (const seconds of [HOUR, DAY]) {
        const units = new Map<number, RequestCount>()
        for (const { start: slot, ...counts } of stored) {
          const start = Math.floor(slot / seconds) * seconds
          const { total = 0, malicious = 0, found_later = 0 } = units.get(start) ?? {}
          units.set(start, {
            start,
            total: total + counts.total,
            malicious: malicious + counts.malicious,
            found_later: found_later + counts.found_later,
          })
        }
        expect(await by(seconds)).toEqual([...units.values()])
      }
    })

    describe('judging again', () => {
      const EARLIER = '2026-02-20T00:00:00.000Z'
      const SINCE = '2026-02-01T00:00:00.000Z'
      const UNTIL = '2026-03-01T12:10:00.000Z'

      /** An upload whose bytes are kept, judged by the first version of the feeds unless `part` says otherwise. */
      async function storeKept(ports: Ports, part: Partial<NewTrafficUpload> & { threat_blocker: number }) {
        const { file, size } = await ports.files.stage(bytesOf('abc'), 10)
        const judgement = { version: 1, malicious_lines: new Uint8Array([0, 0b101]) }
        const kept = anUpload({ received: EARLIER, raw: { file, size }, judgement, ...part })
        return (await ports.transact(({ traffic }) => traffic.insertUpload(kept))) ?? 0
      }
      async function blockerIn(ports: Ports, organization: number): Promise<number> {
        return ports.transact(({ threatBlockers }) => threatBlockers.insert(aBlocker({ organization })))
      }
      function lease(ports: Ports, version = 2, now = NOW, until = UNTIL, since = SINCE) {
        return ports.transact(({ traffic }) => traffic.leaseOutdated(version, since, now, until))
      }
      function finish(ports: Ports, upload: number, found = 0, version = 2, until = UNTIL) {
        const judgement = { version, malicious_lines: new Uint8Array([1]) }
        return ports.transact(({ traffic }) => traffic.finishJudging(upload, until, judgement, found))
      }
      function take(ports: Ports, version = 2) {
        return ports.transact(({ traffic }) => traffic.takeFoundLater(version, SINCE))
      }

      test('uploads judged by older feeds are leased, the last that came first, each once', async () => {
        await openFresh(open, async (ports) => {
          const threat_blocker = await blockerIn(ports, await storeOrganization(ports))
          expect(await ports.traffic.hasOutdated(2, SINCE, NOW)).toBe(false)
          const early = await storeKept(ports, { threat_blocker })
          const late = await storeKept(ports, { threat_blocker, received: NOW })
          expect(await ports.traffic.hasOutdated(1, SINCE, NOW)).toBe(false)
          expect(await ports.traffic.hasOutdated(2, SINCE, NOW)).toBe(true)
          const raw = await ports.traffic.findRaw(threat_blocker, late)
          const leased = await lease(ports)
          expect(leased).toEqual({
            id: late,
            threat_blocker,
            services: ['Service IPv4 Protection'],
            raw,
            judgement: { version: 1, malicious_lines: expect.anything() },
          })
          expect([...(leased?.judgement.malicious_lines ?? [])]).toEqual([0, 0b101])
          expect((await lease(ports))?.id).toBe(early)
          expect(await lease(ports)).toBeUndefined()
          expect(await ports.traffic.hasOutdated(2, SINCE, NOW)).toBe(false)
          // A lease that has ended is nobody's.
          expect(await ports.traffic.hasOutdated(2, SINCE, UNTIL)).toBe(true)
          expect((await lease(ports, 2, UNTIL, '2026-03-01T12:20:00.000Z'))?.id).toBe(late)
        })
      })

      test('what is too old, not kept, removed, or judged by feeds as new, is left alone', async () => {
        await openFresh(open, async (ports) => {
          const organization = await storeOrganization(ports)
          const threat_blocker = await blockerIn(ports, organization)
          await storeKept(ports, { threat_blocker, received: '2026-01-31T23:59:59.999Z' })
          await storeKept(ports, { threat_blocker, raw: null })
          await storeKept(ports, { threat_blocker, judgement: { version: 2, malicious_lines: new Uint8Array() } })
          const removed = await blockerIn(ports, organization)
          await storeKept(ports, { threat_blocker: removed })
          await ports.transact(({ threatBlockers }) => threatBlockers.remove(removed, NOW))
          const gone = await storeOrganization(ports)
          await storeKept(ports, { threat_blocker: await blockerIn(ports, gone) })
          await ports.transact(({ organizations }) => organizations.remove(gone, NOW))
          expect(await lease(ports)).toBeUndefined()
          expect(await ports.traffic.hasOutdated(2, SINCE, NOW)).toBe(false)
        })
      })

      test('a finished one is judged, counts what was found, and is not due again', async () => {
        await openFresh(open, async (ports) => {
          const threat_blocker = await blockerIn(ports, await storeOrganization(ports))
          const id = await storeKept(ports, { threat_blocker, malicious: 2 })
          expect(await finish(ports, id, 5)).toBe(false)
          await lease(ports)
          expect(await finish(ports, id, 5, 2, NOW)).toBe(false)
          expect(await ports.traffic.findUpload(threat_blocker, id)).toMatchObject({ malicious: 2, found_later: 0 })
          expect(await finish(ports, id, 5)).toBe(true)
          expect(await finish(ports, id, 5)).toBe(false)
          expect(await ports.traffic.findUpload(threat_blocker, id)).toMatchObject({ malicious: 7, found_later: 5 })
          expect(await lease(ports)).toBeUndefined()
          const again = await lease(ports, 3)
          expect([again?.judgement.version, ...(again?.judgement.malicious_lines ?? [])]).toEqual([2, 1])
        })
      })

      test('what was found is taken once an organization, when none of its uploads is left to judge', async () => {
        await openFresh(open, async (ports) => {
          const [one, other] = [await storeOrganization(ports), await storeOrganization(ports)]
          const [first, second] = [await blockerIn(ports, one), await blockerIn(ports, one)]
          await storeKept(ports, { threat_blocker: await blockerIn(ports, other) })
          for (const threat_blocker of [first, first, second]) {
            await storeKept(ports, { threat_blocker, received: NOW })
          }
          for (const found of [2, 0]) await finish(ports, (await lease(ports))?.id ?? 0, found)
          expect(await take(ports)).toBeUndefined()
          await finish(ports, (await lease(ports))?.id ?? 0, 3)
          expect(await ports.traffic.hasOutdated(2, SINCE, NOW)).toBe(true)
          expect(await take(ports)).toEqual({ organization: one, uploads: 2, requests: 5 })
          expect(await take(ports)).toBeUndefined()
          await finish(ports, (await lease(ports))?.id ?? 0)
          expect(await take(ports)).toBeUndefined()
          expect(await ports.traffic.hasOutdated(2, SINCE, NOW)).toBe(false)
        })
      })

      test('nothing is taken of a removed organization', async () => {
        await openFresh(open, async (ports) => {
          const organization = await storeOrganization(ports)
          await storeKept(ports, { threat_blocker: await blockerIn(ports, organization) })
          await finish(ports, (await lease(ports))?.id ?? 0, 3)
          await ports.transact(({ organizations }) => organizations.remove(organization, NOW))
          expect(await take(ports)).toBeUndefined()
          expect(await ports.traffic.hasOutdated(2, SINCE, NOW)).toBe(false)
        })
      })

      test('ten leases at once: each upload goes to one', async () => {
        await openFresh(open, async (ports) => {
          const threat_blocker = await blockerIn(ports, await storeOrganization(ports))
          const ids = []
          for (let count = 0; count < 4; count += 1) ids.push(await storeKept(ports, { threat_blocker }))
          const results = fulfilled(await tenAtOnce(() => lease(ports)))
          const leased = results.flatMap((upload) => (upload ? [upload.id] : []))
          expect(new Set(leased).size).toBe(leased.length)
          // Who came while the last one was being taken may have gone away with nothing, but nothing is lost.
          for (let upload = await lease(ports); upload; upload = await lease(ports)) leased.push(upload.id)
          expect(leased.toSorted((a, b) => a - b)).toEqual(ids)
        })
      })

      test('ten that tell at once: one organization is told once', async () => {
        await openFresh(open, async (ports) => {
          const threat_blocker = await blockerIn(ports, await storeOrganization(ports))
          await storeKept(ports, { threat_blocker })
          await finish(ports, (await lease(ports))?.id ?? 0, 3)
          const taken = fulfilled(await tenAtOnce(() => take(ports)))
          expect(taken).toHaveLength(10)
          expect(taken.filter(Boolean)).toHaveLength(1)
        })
      })
    })

    describe('threats', () => {
      async function addThreats(blocker: number, ...threats: ReturnType<typeof aThreat>[]): Promise<void> {
        await opened.ports.transact(({ traffic }) => traffic.addThreats(blocker, threats))
      }
      const list = async (blocker: number, filter = {}) =>
        (await opened.ports.traffic.listThreats(blocker, filter, all('value'))).data.map(
          ({ id: _, ...threat }) => threat,
        )

      test('come back as they were stored, each blocker its own', async () => {
        const [one, other] = [await storeBlocker(), await storeBlocker()]
        const verdict = aThreat({
          kind: 'verdict',
          feed: '',
          entry: '',
          snapshot: 0,
          verdict: 'blocked',
          value: ODD_TEXT,
        })
        await addThreats(one, aThreat(), verdict)
        expect(await list(one)).toEqual([aThreat(), verdict])
        expect(await list(other)).toEqual([])
      })

      test('of the same source and reason add up, with their first and last time and the newest snapshot', async () => {
        const id = await storeBlocker()
        await addThreats(id, aThreat({ requests: 3_000_000_000, snapshot: 2 }), aThreat({ value: '203.0.113.10' }))
        await addThreats(
          id,
          aThreat({
            requests: 3_000_000_000,
            first_seen: '2026-02-01T00:00:00.000Z',
            last_seen: '2026-03-01T10:30:00.000Z',
          }),
        )
        expect(await list(id)).toEqual([
          aThreat({ value: '203.0.113.10' }),
          aThreat({ requests: 6_000_000_000, first_seen: '2026-02-01T00:00:00.000Z', snapshot: 2 }),
        ])
      })

      test('are listed by kind and by when they were seen, both ends included', async () => {
        const id = await storeBlocker()
        const host = aThreat({ kind: 'host', value: 'evil.example' })
        const late = aThreat({
          first_seen: '2026-03-02T10:00:00.000Z',
          last_seen: '2026-03-02T11:00:00.000Z',
          entry: 'x',
        })
        await addThreats(id, aThreat(), host, late)
        expect(await list(id, { kind: 'host' })).toEqual([host])
        expect(await list(id, { from: '2026-03-02T11:00:00.000Z' })).toEqual([late])
        expect(await list(id, { to: '2026-03-01T10:00:00.000Z' })).toEqual([aThreat(), host])
        expect(await list(id, { from: '2026-03-01T11:00:00.001Z', to: '2026-03-02T09:00:00.000Z' })).toEqual([])
      })

      test('are listed in every order and by pages', async () => {
        const blocker = await storeBlocker()
        const values = ['b', 'B', 'a', '10', '9', '*', 'é']
        const threats = values.map((value, index) =>
          aThreat({
            value,
            requests: [5, 1, 5, 40, 3, 3, 2][index] ?? 0,
            first_seen: `2026-03-01T10:00:0${index % 3}.000Z`,
            last_seen: `2026-03-01T11:00:0${index % 2}.000Z`,
          }),
        )
        await addThreats(blocker, ...threats)
        const { data } = await opened.ports.traffic.listThreats(blocker, {}, all('id'))
        await expectOrderAndPages(
          THREAT_ORDER,
          data,
          (page) => opened.ports.traffic.listThreats(blocker, {}, page),
          ({ id }) => id,
        )
      })

      test('ten additions to the same ones at once add up', async () => {
        const id = await storeBlocker()
        const both = [aThreat({ requests: 1 }), aThreat({ value: 'other', requests: 10 })]
        const results = await tenAtOnce((index) => addThreats(id, ...(index % 2 ? both : both.toReversed())))
        expect(fulfilled(results)).toHaveLength(10)
        const sums = Object.fromEntries((await list(id)).map(({ value, requests }) => [value, requests]))
        expect(sums).toEqual({ '203.0.113.9': 10, other: 100 })
      })

      test('many are taken in at once', async () => {
        const id = await storeBlocker()
        await addThreats(
          id,
          ...Array.from({ length: 5000 }, (_, index) => aThreat({ value: `10.0.${index >> 8}.${index & 255}` })),
        )
        expect((await opened.ports.traffic.listThreats(id, {}, { limit: 1, offset: 0, order: 'id' })).total).toBe(5000)
      })
    })
  })
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

async function collected(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const bytes of content) chunks.push(bytes)
  return Buffer.concat(chunks).toString()
}
