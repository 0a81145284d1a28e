import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Rules } from '../../src/decide/decision.ts'
import type { Tallies, Tally } from '../../src/decide/tally.ts'
import { RequestCache } from '../../src/hot/request-cache.ts'
import { RequestWords } from '../../src/hot/request-words.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { toTally } from '../support/tally.ts'

const toRules = (isLasting = true): Rules => ({
  hasDomain: () => true,
  match: () => undefined,
  isLasting: () => isLasting,
})
const rules = toRules()
const request = requestFor('d', descriptor('k=v'))

/** Returns whether the request was found; if not, passes it to `keep`. */
function see(cache: RequestCache, bytes: Buffer, tallies: Tallies = [toTally()]): boolean {
  if (find(cache, bytes) !== undefined) return true
  cache.keep(request, tallies)
  return false
}

function find(cache: RequestCache, bytes: Buffer, inForce = rules): Tallies | undefined {
  return cache.find(inForce, bytes, 0, bytes.length)
}

const numbered = (number: number) => Buffer.from(`request ${String(number).padStart(10, '0')}`)

test('a request is cached the second time and found from the third time on', () => {
  const cache = new RequestCache()
  assert.equal(see(cache, numbered(1)), false)
  assert.equal(cache.usedBytes, 0)
  assert.equal(see(cache, numbered(1)), false)
  assert.equal(see(cache, numbered(1)), true)
  assert.equal(see(cache, numbered(2)), false)
})

test('a request is found at any position in the buffer', () => {
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

const words = new RequestWords(1_024)

/** The hash has a random secret in every process, so tests that depend on hashes must read them. */
function hashOf(bytes: Buffer): number {
  words.set(bytes, 0, bytes.length)
  return words.hash
}

/** Numbered requests with different hashes, of which at most four belong to the same set. */
function spreadRequests(count: number, { sets = 32_768, perSet = 4 } = {}): Buffer[] {
  const hashes = new Set<number>()
  const counts = new Map<number, number>()
  const requests: Buffer[] = []
  for (let number = 0; requests.length < count; number += 1) {
    const requestHash = hashOf(numbered(number))
    const set = requestHash & (sets - 1)
    const inSet = counts.get(set) ?? 0
    if (hashes.has(requestHash) || inSet === perSet) continue
    hashes.add(requestHash)
    counts.set(set, inSet + 1)
    requests.push(numbered(number))
  }
  return requests
}

const distinctMessages = fc.uniqueArray(
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  // The cache keeps only the first of two messages with the same hash.
  { minLength: 1, maxLength: 20, selector: hashOf },
)

test('a set caches four requests: a fifth replaces one of them, and each is found unchanged', () => {
  fc.assert(
    fc.property(
      distinctMessages,
      fc.array(fc.option(tally, { nil: undefined }), { maxLength: 4 }),
      (messages, pool) => {
        // All messages are in one set, which is the worst case.
        const cache = new RequestCache({ sets: 1, maxBytes: 2 ** 16 })
        const known = messages.map((bytes, index) => ({
          bytes,
          tallies: pool.slice(index % (pool.length + 1)),
        }))
        for (const [index, { bytes, tallies }] of known.entries()) {
          for (let sight = 0; sight < 2; sight += 1) see(cache, bytes, tallies)
          assert.ok(find(cache, bytes), 'a request that was repeated immediately is not found')
          const found = known.slice(0, index + 1).filter((each) => isFoundAsKept(cache, each))
          assert.equal(found.length, Math.min(index + 1, 4))
        }
      },
    ),
  )
})

interface KeptRequest {
  readonly bytes: Buffer
  readonly tallies: Tallies
}

/** Returns whether the request is found, and checks that it equals the cached one, with the same counters. */
function isFoundAsKept(cache: RequestCache, { bytes, tallies }: KeptRequest): boolean {
  const found = find(cache, bytes)
  if (found === undefined) return false
  assert.deepEqual(found.map(withText), tallies.map(withText))
  found.forEach((each, i) => assert.equal(each?.counters, tallies[i]?.counters))
  // The next request gets the same objects.
  for (const each of found) if (each !== undefined) each.after = 9
  cache.release(found)
  return true
}

const withText = (tally: Tally | undefined) =>
  tally && { ...tally, key: tally.key, encodedKey: undefined }

test('a request is not replaced by requests of other sets', () => {
  const cache = new RequestCache({ sets: 2 })
  const requests = spreadRequests(2_000, { sets: 2, perSet: 1_000 })
  const own = requests.find((bytes) => hashOf(bytes) % 2 === 0)
  assert.ok(own)
  for (let sight = 0; sight < 2; sight += 1) see(cache, own)
  for (const other of requests.filter((bytes) => hashOf(bytes) % 2 !== 0)) {
    for (let sight = 0; sight < 3; sight += 1) see(cache, other)
    assert.equal(see(cache, own), true)
  }
})

test('requests with the same hash are distinguished', () => {
  const byHash = new Map<number, Buffer>()
  // Digests, because messages that differ in only one word never share a hash.
  const toMessage = (number: number) => hash('sha256', `${number}`, 'buffer').subarray(0, 16)
  let second = toMessage(0)
  // About 80,000 messages are enough for two of them to share a 32-bit hash.
  for (let number = 1; !byHash.has(hashOf(second)); number += 1) {
    byHash.set(hashOf(second), second)
    second = toMessage(number)
  }
  const first = byHash.get(hashOf(second))
  assert.ok(first)
  const cache = new RequestCache()
  for (let i = 0; i < 2; i += 1) see(cache, first)
  assert.equal(see(cache, second), false)
  assert.equal(see(cache, first), true)
})

test('every result is a new object, so that concurrent decisions do not share tallies', () => {
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

test('it never exceeds its limits of requests and bytes', () => {
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

test('cached requests stay unchanged while the buffer grows', () => {
  const cache = new RequestCache()
  const toKey = (number: number) => `${number}`.padEnd(1_000, number % 2 === 0 ? 'v' : 'ш')
  const requests = spreadRequests(300)
  for (const [index, bytes] of requests.entries()) {
    for (let i = 0; i < 2; i += 1) see(cache, bytes, [toTally({ key: toKey(index) })])
  }
  assert.ok(cache.usedBytes > 300_000)
  for (const [index, bytes] of requests.entries()) {
    assert.equal(find(cache, bytes)?.[0]?.key, toKey(index))
  }
})

test('a full cache is cleared, and requests in use are cached again immediately', () => {
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

test('a flood of requests that are not repeated replaces no cached request', () => {
  const cache = new RequestCache({ sets: 64 })
  // Two requests with the same hash would count as a repeated one.
  const [own, ...flood] = spreadRequests(20_000, { perSet: 20_000 })
  assert.ok(own)
  for (let i = 0; i < 2; i += 1) see(cache, own)
  const { usedBytes } = cache
  for (const bytes of flood) see(cache, bytes)
  assert.equal(cache.usedBytes, usedBytes)
  // During such a flood only one request in eight is looked up.
  const found = Array.from({ length: 16 }, () => see(cache, own))
  assert.ok(found.includes(true))
})

test('requests that are repeated after a flood are soon found every time', () => {
  const cache = new RequestCache()
  for (let number = 0; number < 20_000; number += 1) see(cache, numbered(number))
  for (let i = 0; i < 100; i += 1) for (let j = 0; j < 50; j += 1) see(cache, numbered(-j))
  for (let j = 0; j < 50; j += 1) assert.equal(see(cache, numbered(-j)), true)
})

test('after a flood a request with several descriptors is looked up immediately', () => {
  const cache = new RequestCache()
  for (let i = 0; i < 50_000; i += 1) see(cache, numbered(i))
  const several = Buffer.concat([numbered(-1), Buffer.alloc(200, 'x')])
  assert.deepEqual(
    [1, 2, 3].map(() => see(cache, several)),
    [false, false, true],
  )
})

test('new rules clear the cache, and one repetition is enough to be cached again', () => {
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
  test(`a request ${what} is not cached`, () => {
    const cache = new RequestCache()
    for (let i = 0; i < 5; i += 1) {
      assert.equal(find(cache, bytes, inForce), undefined)
      cache.keep(request, [toTally({ charge })])
    }
    assert.equal(cache.usedBytes, 0)
  })
}

test('a request with very large tallies is not cached', () => {
  const cache = new RequestCache()
  const many = Array.from({ length: 100 }, () => toTally({ key: 'k'.repeat(1_000) }))
  for (let i = 0; i < 5; i += 1) assert.equal(see(cache, numbered(1), many), false)
  assert.equal(cache.usedBytes, 0)
})
