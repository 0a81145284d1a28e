import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { CounterStore } from '../../src/counters/counter-store.ts'
import { openMemoryStore } from '../../src/counters/memory/memory-store.ts'
import { createLocalCache } from '../../src/hot/local-cache.ts'
import { encodeRequest } from '../../src/protocol/encode.ts'
import { OVER_LIMIT } from '../../src/protocol/message.ts'
import { KeyWords } from '../../src/structures/key-bytes.ts'
import { descriptor, openDecider, requestFor } from '../support/decider.ts'

/** A decider with a local cache, and the number of calls of its store. */
function openCachedDecider(t: TestContext, more = '') {
  const memory = openMemoryStore({ now: () => 1_700_000_000_000 })
  const storeCalls = { count: 0 }
  const store: CounterStore = {
    add(...args) {
      storeCalls.count += 1
      memory.add(...args)
    },
    addSparing: () => assert.fail('addSparing was called'),
    read: () => assert.fail('nothing is to be read'),
    [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose](),
  }
  const rules = `
domain: d
descriptors:
  - key: k
    ${more}
    rate_limit: { unit: minute, requests_per_unit: 2 }
  - key: s
    rate_limit: { unit: minute, requests_per_unit: 2, algorithm: sliding_window }
`
  return { decider: openDecider(t, rules, { store, localCacheBytes: 1_000_000 }), storeCalls }
}

test('a counter that is known to be over its limit is refused without the store', async (t) => {
  const { decider, storeCalls } = openCachedDecider(t)
  const request = requestFor('d', descriptor('k=v', { hitsAddend: 2 }))
  const codes = []
  for (let i = 0; i < 4; i += 1) codes.push((await decider.decide(request)).overallCode)
  assert.deepEqual(codes.slice(1), [OVER_LIMIT, OVER_LIMIT, OVER_LIMIT])
  assert.equal(storeCalls.count, 2)
  assert.deepEqual(decider.counters('d.k'), {
    totalHits: 8,
    withinLimit: 2,
    nearLimit: 1,
    overLimit: 6,
    overLimitWithLocalCache: 4,
  })
})

test('a repeated encoded request is refused without the store and the text of its key', async (t) => {
  const { decider, storeCalls } = openCachedDecider(t)
  const request = requestFor('d', descriptor('k=v', { hitsAddend: 2 }))
  const { buffer, length } = encodeRequest(request)
  const message = Buffer.from(buffer.subarray(0, length))
  await decider.decide(request)
  await decider.decideEncoded(message)
  // The second time, the request is cached.
  await decider.decideEncoded(message)
  const toText = t.mock.method(KeyWords.prototype, 'toText')
  const before = storeCalls.count
  for (let i = 0; i < 3; i += 1) {
    assert.equal((await decider.decideEncoded(message)).overallCode, OVER_LIMIT)
  }
  assert.equal(storeCalls.count, before)
  assert.equal(toText.mock.callCount(), 0)
})

test('in shadow mode, hits that the local cache refuses count as shadow mode too', async (t) => {
  const { decider, storeCalls } = openCachedDecider(t, 'shadow_mode: true')
  const request = requestFor('d', descriptor('k=v', { hitsAddend: 2 }))
  for (let i = 0; i < 4; i += 1) await decider.decide(request)
  assert.equal(storeCalls.count, 2)
  assert.equal(decider.counters('d.k')['shadowMode'], 6)
})

test('a sliding window is not cached, because there may be room again at any moment', async (t) => {
  const { decider, storeCalls } = openCachedDecider(t)
  const request = requestFor('d', descriptor('s=v'))
  for (let i = 0; i < 5; i += 1) await decider.decide(request)
  assert.equal(storeCalls.count, 5)
})

test('the gauges of a local cache that was never used are 0', () => {
  const cache = createLocalCache({ sizeInBytes: 0, now: () => 0 })
  const { evacuateCount, expiredCount, entryCount, lookupCount, overwriteCount } = cache
  assert.deepEqual(
    { evacuateCount, expiredCount, entryCount, lookupCount, overwriteCount },
    { evacuateCount: 0, expiredCount: 0, entryCount: 0, lookupCount: 0, overwriteCount: 0 },
  )
  cache.add('k', 0, 60, 1, 30)
  assert.equal(cache.averageAccessTime, 30)
})
