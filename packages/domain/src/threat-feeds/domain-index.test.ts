import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createDomainSet, domainOf, lookUpHost } from './domain-index.ts'

function setOf(names: string[]) {
  const set = createDomainSet()
  for (const name of names) set.add(Buffer.from(` ${name} `), 1, name.length + 1)
  return set
}

type Index = ReturnType<ReturnType<typeof setOf>['index']>

const memory = Buffer.alloc(512)

/** The number of the name that a host is found under, whatever stands behind the host. */
function entryOf(index: Index, host: string): number {
  memory.write(`${host}.behind.it`, 'latin1')
  return lookUpHost(index, memory, host.length)
}

function look(index: Index, host: string): string | undefined {
  const entry = entryOf(index, host)
  return entry < 0 ? undefined : domainOf(index, entry)
}

/** The name itself or its nearest parent that is listed. */
function nearest(names: Set<string>, host: string): string | undefined {
  for (let rest = host; ; rest = rest.slice(rest.indexOf('.') + 1)) {
    if (names.has(rest)) return rest
    if (!rest.includes('.')) return undefined
  }
}

const name = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'ba', 'a-b', 'com'), { minLength: 1, maxLength: 5 })
  .map((labels) => labels.join('.'))

describe('the index of domains', () => {
  test('finds for every host what a naive search finds', () => {
    fc.assert(
      fc.property(fc.array(name), fc.array(name), (names, hosts) => {
        const known = new Set(names)
        const index = setOf(names).index()
        const asked = [...names, ...hosts]
        expect(asked.map((host) => look(index, host))).toEqual(asked.map((host) => nearest(known, host)))
      }),
      { numRuns: 500 },
    )
  })

  test('finds each of a hundred thousand names, and none that is not there', () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `host-${index}.example`)
    const index = setOf(names).index()
    expect(names.filter((one, entry) => entryOf(index, one) !== entry)).toEqual([])
    expect(names.filter((one, entry) => entryOf(index, `sub.${one}`) !== entry)).toEqual([])
    expect(names.filter((one) => entryOf(index, `x${one}`) !== -1)).toEqual([])
  })

  test('finds parent domains, the nearest first, and never the middle of a label', () => {
    const index = setOf(['example', 'evil.example', 'a.b.evil.example']).index()
    expect(look(index, 'evil.example')).toBe('evil.example')
    expect(look(index, 'evil.example.')).toBe('evil.example')
    expect(look(index, 'x.evil.example')).toBe('evil.example')
    expect(look(index, 'x.a.b.evil.example')).toBe('a.b.evil.example')
    expect(look(index, 'notevil.example')).toBe('example')
    expect(look(index, 'evil.example.org')).toBeUndefined()
    expect(look(index, 'myexample')).toBeUndefined()
    for (const none of ['', '.', '..', 'ample', 'x'.repeat(300)]) expect(look(index, none)).toBeUndefined()
  })

  test('an empty one has no host', () => {
    expect(look(setOf([]).index(), 'evil.example')).toBeUndefined()
  })

  test('holds a name once, under the number it got first', () => {
    const set = setOf(['b.example', 'a.example', 'b.example'])
    expect(set.size).toBe(2)
    expect([0, 1].map((entry) => domainOf(set.index(), entry))).toEqual(['b.example', 'a.example'])
    expect(set.has(Buffer.from('a.example'), 0, 9)).toBe(true)
    expect(set.has(Buffer.from('a.example'), 0, 8)).toBe(false)
  })

  test('lies in shared memory', () => {
    for (const array of Object.values(setOf(['a.example']).index())) {
      expect(array.buffer).toBeInstanceOf(SharedArrayBuffer)
    }
  })
})
