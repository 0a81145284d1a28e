import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { StoreError } from '../../../src/counters/counter-store.ts'
import {
  type MemoryStore,
  type MemoryStoreSettings,
  openMemoryStore,
} from '../../../src/counters/memory/memory-store.ts'
import { testCounterStore } from '../contract.ts'

testCounterStore('memory', async () => openMemoryStore())

const startMs = 1_700_000_040_000
const window = startMs / 1000

function open(t: TestContext, settings: MemoryStoreSettings = {}): MemoryStore {
  const store = openMemoryStore(settings)
  t.after(() => store[Symbol.asyncDispose]())
  return store
}

/** Returns the new count, or the error. */
function add(
  store: MemoryStore,
  key: string,
  { hits = 1, startsAt = window, unitSeconds = 60, overlapMs = 0, most = 1000 } = {},
): number | StoreError {
  const increment = {
    key,
    window: startsAt,
    unitSeconds,
    hits,
    most,
    isStrict: true,
    overlapMs,
    after: Number.NaN,
    previous: Number.NaN,
  }
  const errors: (StoreError | undefined)[] = []
  store.add([increment], Number.POSITIVE_INFINITY, (error) => errors.push(error))
  assert.equal(errors.length, 1, 'the memory store answers synchronously')
  return errors[0] ?? increment.after
}

test('close() frees the counters, and calls fail from then on', async (t) => {
  const store = open(t)
  assert.equal(add(store, 'a'), 1)
  await store.close()
  assert.ok(add(store, 'a') instanceof StoreError)
})

test('keys that differ only in lone surrogates are different counters', (t) => {
  const store = open(t, { now: () => startMs })
  const names = [
    '',
    '\ud800',
    '\udfff',
    '\ufffd',
    'é',
    'e\u0301',
    '\u00e9\u0000',
    '😀',
    '\ude00\ud83d',
  ]
  for (const [i, name] of names.entries()) assert.equal(add(store, name, { hits: i + 1 }), i + 1)
  for (const [i, name] of names.entries()) assert.equal(add(store, name, { hits: 0 }), i + 1)
})

test('keys of 1 MB are counted, together with short keys', (t) => {
  const store = open(t, { now: () => startMs })
  const long = 'v'.repeat(2 ** 20)
  for (let i = 0; i < 2000; i++) add(store, `short_${i}_`)
  for (let i = 0; i < 12; i++) assert.equal(add(store, `${long}${i}_`, { hits: i + 1 }), i + 1)
  assert.equal(add(store, `${'ü'.repeat(2 ** 20)}_`), 1)
  for (let i = 0; i < 12; i++) assert.equal(add(store, `${long}${i}_`), i + 2)
  for (let i = 0; i < 2000; i++) assert.equal(add(store, `short_${i}_`), 2)
})

test('a new window of a key starts at 0 and replaces the expired one', (t) => {
  let nowMs = startMs
  const store = open(t, { now: () => nowMs })
  assert.equal(add(store, 'key_', { hits: 5 }), 5)
  nowMs += 60_000
  assert.equal(add(store, 'key_', { startsAt: window + 60 }), 1)
  assert.equal(add(store, 'key_', { startsAt: window + 60 }), 2)
  assert.equal(store.size, 1)
})

test('a current window keeps its count while another window of the same key is counted', (t) => {
  const store = open(t, { now: () => startMs })
  assert.equal(add(store, 'key_', { startsAt: window }), 1)
  assert.equal(add(store, 'key_', { startsAt: window - 2040, unitSeconds: 3600, hits: 7 }), 7)
  assert.equal(add(store, 'key_', { startsAt: window }), 2)
  assert.equal(add(store, 'key_', { startsAt: window - 2040, unitSeconds: 3600 }), 8)
  assert.equal(store.size, 2)
})

test('a counter that two units share is kept for the longer unit', (t) => {
  let nowMs = startMs
  const store = open(t, { now: () => nowMs })
  const hour = { startsAt: window, unitSeconds: 3600 }
  assert.equal(add(store, 'key_', { startsAt: window }), 1)
  assert.equal(add(store, 'key_', hour), 2)
  assert.equal(add(store, 'key_', { startsAt: window }), 3)
  nowMs += 61_000
  assert.equal(add(store, 'key_', { startsAt: window + 60 }), 1)
  assert.equal(add(store, 'key_', hour), 4)
})

test('a sliding counter is kept until the next window ends, and is then reused', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let nowMs = startMs
  const store = open(t, { now: () => nowMs })
  const sliding = (startsAt: number, hits = 1) =>
    add(store, 'key_', { startsAt, hits, overlapMs: 60_000 })
  const sweep = () => t.mock.timers.tick(20_000)
  assert.equal(sliding(window, 5), 5)
  nowMs = (window + 119) * 1000
  sweep()
  assert.equal(store.size, 1)
  assert.equal(sliding(window + 60, 2), 7)
  assert.equal(store.size, 2)
  nowMs = (window + 121) * 1000
  assert.equal(sliding(window + 120), 3)
  assert.equal(store.size, 2, 'the expired counter is reused')
  nowMs = (window + 241) * 1000
  sweep()
  assert.equal(store.size, 0)
  assert.equal(sliding(window + 240), 1)
})

test('a sliding and a fixed window of the same name expire separately', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let nowMs = startMs
  const store = open(t, { now: () => nowMs })
  const names = Array.from({ length: 1000 }, (_, i) => `key_${i}_`)
  for (const name of names) {
    assert.equal(add(store, name, { hits: 5 }), 5)
    assert.equal(add(store, name, { hits: 7, overlapMs: 1 }), 7)
  }
  nowMs += 61_000
  t.mock.timers.tick(20_000)
  assert.equal(store.size, names.length)
  for (const name of names) {
    assert.equal(add(store, name, { startsAt: window + 60, overlapMs: 60_000, hits: 0 }), 7)
    assert.equal(add(store, name, { hits: 0 }), 0)
  }
})

test('each of many sliding counters takes less than 250 bytes', (t) => {
  const store = open(t, { now: () => startMs })
  const counters = 50_000
  const name = 'x'.repeat(60)
  for (let i = 0; i < counters / 2; i++) {
    add(store, `${name}${i}_`, { startsAt: window - 60, overlapMs: 60_000 })
    add(store, `${name}${i}_`, { overlapMs: 60_000 })
  }
  assert.equal(store.size, counters)
  assert.ok(store.bytes / counters < 250, `${store.bytes / counters} bytes`)
})

test('expired counters are dropped within one sweep, without a call', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let nowMs = startMs
  const store = open(t, { now: () => nowMs })
  const emptyBytes = store.bytes
  for (let i = 0; i < 30_000; i++) add(store, `key_${i}_`)
  for (let i = 0; i < 100; i++) add(store, `day_${i}_`, { unitSeconds: 86_400, hits: 3 })
  t.mock.timers.tick(20_000)
  assert.equal(store.size, 30_100, 'nothing is dropped before its window ends')
  nowMs += 60_000
  t.mock.timers.tick(20_000)
  assert.ok(store.size <= 200, `${store.size} counters are left of which 100 are alive`)
  assert.ok(store.bytes < 100_000, `${store.bytes} bytes are left`)
  for (let i = 0; i < 100; i++) {
    assert.equal(add(store, `day_${i}_`, { unitSeconds: 86_400, hits: 0 }), 3)
  }
  nowMs += 86_400_000
  t.mock.timers.tick(20_000)
  assert.deepEqual({ size: store.size, bytes: store.bytes }, { size: 0, bytes: emptyBytes })
})

test('no count is lost if the clock runs ahead for less than a minute and is set back', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let [nowMs, elapsedMs] = [startMs, 0]
  const store = open(t, { now: () => nowMs, elapsed: () => elapsedMs })
  for (let i = 0; i < 1000; i++) add(store, `key_${i}_`, { hits: 2 })
  nowMs += 86_400_000
  elapsedMs += 10_000
  t.mock.timers.tick(20_000)
  assert.equal(add(store, 'key_1_', { startsAt: window + 86_400 }), 1)
  nowMs = startMs + 10_000
  for (let i = 0; i < 1000; i++) assert.equal(add(store, `key_${i}_`), 3)
})

test('above its memory limit it drops counters and reports that', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let reports = 0
  const onEvicted = () => {
    reports += 1
  }
  const store = open(t, { now: () => startMs, maxBytes: 2 ** 20, onEvicted })
  for (let i = 0; i < 30_000; i++) assert.equal(add(store, `key_${i}_`), 1)
  assert.equal(reports, 0)
  t.mock.timers.tick(1_000)
  assert.equal(reports, 1)
  // The number that fits depends on the random seed of the hash.
  assert.ok(store.evicted > 0)
  assert.equal(store.evicted + store.size, 30_000)
  assert.ok(store.bytes < 1.1 * 2 ** 20, `${store.bytes} bytes`)
})

test('above its memory limit it can also refuse new counters, and keeps the others', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let nowMs = startMs
  const store = open(t, { now: () => nowMs, maxBytes: 2 ** 20, whenFull: 'refuse' })
  let made = 0
  while (add(store, `key_${made}_`) === 1) made++
  const error = add(store, `key_${made}_`)
  assert.ok(error instanceof StoreError)
  assert.match(
    error.message,
    /^the memory store is full: \d+ counters take \d+ bytes, .*1048576 bytes;/,
  )
  assert.match(error.message, /count in Redis$/)
  assert.ok(made > 5000, `${made} counters`)
  assert.ok(store.bytes < 1.1 * 2 ** 20, `${store.bytes} bytes`)
  for (let i = 0; i < made; i++) assert.equal(add(store, `key_${i}_`), 2)

  nowMs += 60_000
  t.mock.timers.tick(20_000)
  assert.equal(add(store, 'another_', { startsAt: window + 60 }), 1)
})

test('an open store does not keep the process alive', async () => {
  const memory = new URL('../../../src/counters/memory/memory-store.ts', import.meta.url)
  const script = `import { openMemoryStore } from '${memory}'; openMemoryStore(); console.log('open')`
  const node = promisify(execFile)
  const { stdout } = await node(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 120_000,
  })
  assert.equal(stdout, 'open\n')
})
