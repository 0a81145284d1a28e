import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Rules } from '../../src/decide/decision.ts'
import { RequestCache } from '../../src/decide/request-cache.ts'
import { RequestWords } from '../../src/decide/request-words.ts'
import { type Charge, type Tallies, Tally } from '../../src/decide/tally.ts'
import { RuleCounters } from '../../src/stats/rule-counters.ts'
import { ask, descriptor } from '../support/decider.ts'

const toRules = (isLasting = true): Rules => ({
  hasDomain: () => true,
  match: () => undefined,
  isLasting: () => isLasting,
})
const rules = toRules()
const request = ask('d', descriptor('k=v'))

function toTally(charge: Partial<Charge> = {}): Tally {
  return new Tally({
    key: 'd_k_v_',
    unitSeconds: 60,
    unit: 2,
    requestsPerUnit: 10,
    name: '',
    charge: 1,
    isRefund: false,
    isQuota: false,
    isShadowRule: false,
    isSliding: false,
    counters: new RuleCounters(),
    metadata: undefined,
    ...charge,
  })
}

/** Whether it was found; if not, it is offered. */
function see(cache: RequestCache, bytes: Buffer, tallies: Tallies = [toTally()]): boolean {
  if (find(cache, bytes) !== undefined) return true
  cache.keep(request, tallies)
  return false
}

function find(cache: RequestCache, bytes: Buffer, inForce = rules): Tallies | undefined {
  return cache.find(inForce, bytes, 0, bytes.length)
}

const numbered = (number: number) => Buffer.from(`request ${String(number).padStart(10, '0')}`)

test('a request is kept at its second sight and found from the third on', () => {
  const cache = new RequestCache()
  assert.equal(see(cache, numbered(1)), false)
  assert.equal(cache.usedBytes, 0)
  assert.equal(see(cache, numbered(1)), false)
  assert.equal(see(cache, numbered(1)), true)
  assert.equal(see(cache, numbered(2)), false)
})

test('a request is found wherever it lies in the buffer', () => {
  const cache = new RequestCache()
  for (let i = 0; i < 2; i += 1) see(cache, numbered(1))
  for (let offset = 0; offset < 5; offset += 1) {
    const padded = Buffer.concat([Buffer.alloc(offset, 7), numbered(1), Buffer.alloc(3, 9)])
    const end = offset + numbered(1).length
    assert.equal(cache.find(rules, padded, offset, end)?.length, 1)
    assert.equal(cache.find(rules, padded, offset, end + 1), undefined)
  }
})

const text = fc.string({ unit: fc.constantFrom('a', '_', 'ÿ', 'Ā', '😀', '\ud800'), maxLength: 9 })
const tally = fc
  .record({
    key: text,
    unitSeconds: fc.constantFrom(0, 1, 300, 315_360_000),
    unit: fc.integer({ min: 0, max: 7 }),
    requestsPerUnit: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    name: text,
    charge: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    isRefund: fc.boolean(),
    isQuota: fc.boolean(),
    isShadowRule: fc.boolean(),
    isSliding: fc.boolean(),
  })
  .map(toTally)

test('what is found equals what was kept, and the counters are the very same', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.uint8Array({ maxLength: 20 }), {
        minLength: 1,
        maxLength: 20,
        selector: (bytes) => Buffer.from(bytes).toString('hex'),
      }),
      fc.array(fc.option(tally, { nil: undefined }), { maxLength: 4 }),
      (messages, pool) => {
        const cache = new RequestCache({ sets: 32, maxBytes: 2 ** 16 })
        const known = messages.map((bytes, index) => ({
          bytes: Buffer.from(bytes),
          tallies: pool.slice(index % (pool.length + 1)),
        }))
        for (let round = 0; round < 2; round += 1) {
          for (const { bytes, tallies } of known) see(cache, bytes, tallies)
        }
        let found = 0
        for (const { bytes, tallies } of known) {
          const again = find(cache, bytes)
          if (again === undefined) continue
          found += 1
          assert.deepEqual(again, tallies)
          again.forEach((each, index) => {
            assert.equal(each?.counters, tallies[index]?.counters)
          })
        }
        assert.ok(found * 2 >= messages.length, `only ${found} of ${messages.length} were found`)
      },
    ),
  )
})

test('requests with the same hash are told apart', () => {
  const messages = randomBytes(500_000 * 16)
  const words = new RequestWords(16)
  const starts = new Map<number, number>()
  let pair: [Buffer, Buffer] | undefined
  for (let start = 0; start < messages.length && pair === undefined; start += 16) {
    words.set(messages, start, start + 16)
    const other = starts.get(words.hash)
    if (other === undefined) starts.set(words.hash, start)
    else pair = [messages.subarray(other, other + 16), messages.subarray(start, start + 16)]
  }
  // Of half a million hashes of 32 bits about thirty are the same as an earlier one.
  assert.ok(pair)
  const cache = new RequestCache()
  for (let i = 0; i < 2; i += 1) see(cache, pair[0])
  assert.equal(see(cache, pair[1]), false)
  assert.equal(see(cache, pair[0]), true)
})

test('what is found is new every time, so that decisions under way do not meet', () => {
  const cache = new RequestCache()
  for (let i = 0; i < 2; i += 1) see(cache, numbered(1))
  const [first] = find(cache, numbered(1)) ?? []
  const [second] = find(cache, numbered(1)) ?? []
  assert.ok(first && second)
  first.hits = 0
  first.after = 9
  assert.notEqual(first, second)
  assert.deepEqual([second.hits, second.after], [1, 0])
})

test('it never holds more requests or bytes than it may', () => {
  const cache = new RequestCache({ sets: 16, maxBytes: 8_192 })
  for (let number = 0; number < 2_000; number += 1) {
    for (let i = 0; i < 3; i += 1) see(cache, numbered(number))
    assert.ok(cache.usedBytes <= 8_192)
  }
  const roomy = new RequestCache({ sets: 16 })
  const numbers = Array.from({ length: 2_000 }, (_, number) => number)
  for (const number of numbers) for (let i = 0; i < 3; i += 1) see(roomy, numbered(number))
  const found = numbers.filter((number) => find(roomy, numbered(number)) !== undefined)
  assert.ok(found.length > 16 && found.length <= 64, `${found.length} were kept`)
})

test('what is kept stays as it was while room is made for more', () => {
  const cache = new RequestCache()
  const toKey = (number: number) => `${number}`.padEnd(1_000, number % 2 === 0 ? 'v' : 'ш')
  for (let number = 0; number < 300; number += 1) {
    for (let i = 0; i < 2; i += 1) see(cache, numbered(number), [toTally({ key: toKey(number) })])
  }
  assert.ok(cache.usedBytes > 300_000)
  for (let number = 0; number < 300; number += 1) {
    assert.equal(find(cache, numbered(number))?.[0]?.key, toKey(number))
  }
})

test('when it is full it begins anew, and what is in use comes back at once', () => {
  const cache = new RequestCache({ sets: 64, maxBytes: 4_096 })
  for (let i = 0; i < 2; i += 1) see(cache, numbered(0))
  let [losses, lookups] = [0, 0]
  for (let number = 1; number < 1_000; number += 1) {
    for (let i = 0; i < 2; i += 1) see(cache, numbered(number))
    lookups += 1
    if (!see(cache, numbered(0))) losses += 1
  }
  assert.ok(losses > 0, 'it was never full')
  assert.ok(losses < lookups / 4, `lost ${losses} times in ${lookups}`)
})

test('a flood of requests that do not come again pushes out nobody', () => {
  const cache = new RequestCache({ sets: 64 })
  for (let i = 0; i < 2; i += 1) see(cache, numbered(0))
  const { usedBytes } = cache
  for (let number = 1; number < 20_000; number += 1) see(cache, numbered(number))
  assert.equal(cache.usedBytes, usedBytes)
  // Such a flood is hardly looked at, and so this one may have to come some times.
  const found = Array.from({ length: 16 }, () => see(cache, numbered(0)))
  assert.ok(found.includes(true))
})

test('callers who begin to repeat themselves after a flood are soon found every time', () => {
  const cache = new RequestCache()
  for (let number = 0; number < 20_000; number += 1) see(cache, numbered(number))
  for (let i = 0; i < 100; i += 1) for (let j = 0; j < 50; j += 1) see(cache, numbered(-j))
  for (let j = 0; j < 50; j += 1) assert.equal(see(cache, numbered(-j)), true)
})

test('other rules forget everything, and one more sight is enough to be kept again', () => {
  const cache = new RequestCache()
  for (let i = 0; i < 2; i += 1) see(cache, numbered(1))
  const others = toRules()
  assert.equal(find(cache, numbered(1), others), undefined)
  assert.equal(cache.usedBytes, 0)
  cache.keep(request, [toTally({ requestsPerUnit: 20 })])
  assert.equal(find(cache, numbered(1), others)?.[0]?.requestsPerUnit, 20)
  assert.equal(find(cache, numbered(1)), undefined)
})

const notKept = [
  { what: 'whose match changes', inForce: toRules(false), bytes: numbered(1), charge: 1 },
  { what: 'that is long', inForce: rules, bytes: Buffer.alloc(1_025, 1), charge: 1 },
  { what: 'that charges billions', inForce: rules, bytes: numbered(1), charge: 2 ** 31 },
]

for (const { what, inForce, bytes, charge } of notKept) {
  test(`a request ${what} is not kept`, () => {
    const cache = new RequestCache()
    for (let i = 0; i < 5; i += 1) {
      assert.equal(find(cache, bytes, inForce), undefined)
      cache.keep(request, [toTally({ charge })])
    }
    assert.equal(cache.usedBytes, 0)
  })
}

test('a request that comes down to very much is not kept', () => {
  const cache = new RequestCache()
  const many = Array.from({ length: 100 }, () => toTally({ key: 'k'.repeat(1_000) }))
  for (let i = 0; i < 5; i += 1) assert.equal(see(cache, numbered(1), many), false)
  assert.equal(cache.usedBytes, 0)
})
