import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { StoreError } from '../../src/counters/counter-store.ts'
import {
  type MemoryStore,
  type MemoryStoreSettings,
  openMemoryStore,
} from '../../src/counters/memory.ts'
import { testCounterStore } from './contract.ts'

testCounterStore('memory', async () => openMemoryStore())

const startMs = 1_700_000_040_000
const window = startMs / 1000

function open(t: TestContext, settings: MemoryStoreSettings = {}): MemoryStore {
  const store = openMemoryStore(settings)
  t.after(() => store[Symbol.asyncDispose]())
  return store
}

/** The count after it, or the error. */
function add(
  store: MemoryStore,
  key: string,
  { hits = 1, startsAt = window, unitSeconds = 60 } = {},
): number | StoreError {
  const increment = { key, window: startsAt, unitSeconds, hits, after: Number.NaN }
  const errors: (StoreError | undefined)[] = []
  store.add([increment], Number.POSITIVE_INFINITY, (error) => errors.push(error))
  assert.equal(errors.length, 1, 'the memory store answers before it returns')
  return errors[0] ?? increment.after
}

test('keys that differ only in what UTF-8 cannot tell apart are different counters', (t) => {
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

test('a key of 1 MB is counted, among short ones and among its like', (t) => {
  const store = open(t, { now: () => startMs })
  const long = 'v'.repeat(2 ** 20)
  for (let i = 0; i < 2000; i++) add(store, `short_${i}_`)
  for (let i = 0; i < 12; i++) assert.equal(add(store, `${long}${i}_`, { hits: i + 1 }), i + 1)
  assert.equal(add(store, `${'ü'.repeat(2 ** 20)}_`), 1)
  for (let i = 0; i < 12; i++) assert.equal(add(store, `${long}${i}_`), i + 2)
  for (let i = 0; i < 2000; i++) assert.equal(add(store, `short_${i}_`), 2)
})

test('a new window of a key starts at 0 and takes the place of the one that is over', (t) => {
  let nowMs = startMs
  const store = open(t, { now: () => nowMs })
  assert.equal(add(store, 'key_', { hits: 5 }), 5)
  nowMs += 60_000
  assert.equal(add(store, 'key_', { startsAt: window + 60 }), 1)
  assert.equal(add(store, 'key_', { startsAt: window + 60 }), 2)
  assert.equal(store.size, 1)
})

test('a window that is not over keeps its count while another of the same key is counted', (t) => {
  const store = open(t, { now: () => startMs })
  assert.equal(add(store, 'key_', { startsAt: window }), 1)
  assert.equal(add(store, 'key_', { startsAt: window - 2040, unitSeconds: 3600, hits: 7 }), 7)
  assert.equal(add(store, 'key_', { startsAt: window }), 2)
  assert.equal(add(store, 'key_', { startsAt: window - 2040, unitSeconds: 3600 }), 8)
  assert.equal(store.size, 2)
})

test('a counter that two units share is kept for the longer of them', (t) => {
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

test('what is over is dropped within a round of the sweep, without a call', (t) => {
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

test('a clock that runs ahead for less than a minute and is set back costs no count', (t) => {
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

test('above its bytes it refuses new counters, says what to do, and goes on with the others', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let nowMs = startMs
  const store = open(t, { now: () => nowMs, maxBytes: 2 ** 20 })
  let made = 0
  while (add(store, `key_${made}_`) === 1) made++
  const error = add(store, `key_${made}_`)
  assert.ok(error instanceof StoreError)
  assert.match(
    error.message,
    /^the memory store is full: \d+ counters take \d+ bytes, .*1048576 bytes;/,
  )
  assert.match(error.message, /use Redis$/)
  assert.ok(made > 5000, `${made} counters`)
  assert.ok(store.bytes < 1.1 * 2 ** 20, `${store.bytes} bytes`)
  for (let i = 0; i < made; i++) assert.equal(add(store, `key_${i}_`), 2)

  nowMs += 60_000
  t.mock.timers.tick(20_000)
  assert.equal(add(store, 'another_', { startsAt: window + 60 }), 1)
})

test('an open store does not keep the process alive', async () => {
  const memory = new URL('../../src/counters/memory.ts', import.meta.url)
  const script = `import { openMemoryStore } from '${memory}'; openMemoryStore(); console.log('open')`
  const node = promisify(execFile)
  const { stdout } = await node(process.execPath, ['--input-type=module', '-e', script], {
    timeout: 60_000,
  })
  assert.equal(stdout, 'open\n')
})
