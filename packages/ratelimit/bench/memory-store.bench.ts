/*
 * Measures the memory store and the local cache: time per call, bytes per counter, and the longest pause
 * while two million counters are created and dropped. It takes about 20 seconds.
 *
 *     node packages/ratelimit/bench/memory-store.bench.ts
 */
import type { Increment } from '../src/counters/counter-store.ts'
import { openMemoryStore } from '../src/counters/memory/memory-store.ts'
import { CounterTable } from '../src/counters/memory/table.ts'
import { createLocalCache } from '../src/hot/local-cache.ts'

const unitSeconds = 3600
const window = Math.floor(Date.now() / 1000 / unitSeconds) * unitSeconds
const forever = Number.POSITIVE_INFINITY
const calls = 2 ** 19

const keyBytes = Buffer.from(`domain_remote_address_0000000000_path_${'x'.repeat(37)}_`)

/** A new flat string of 76 characters, like in a request. */
function toKey(i: number): string {
  for (let at = 31, rest = i; at > 21; at--) {
    keyBytes[at] = 48 + (rest % 10)
    rest = (rest / 10) | 0
  }
  return keyBytes.toString('latin1')
}

function toNanoseconds(run: () => void): number {
  run()
  let best = forever
  for (let round = 0; round < 3; round++) {
    const start = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(start)
    best = Math.min(best, ((user + system) * 1000) / calls)
  }
  return best
}

/** The cost of a call without that of creating its key. Keys are in random order. */
function measureCall(keys: number, call: (key: string) => void): string {
  const order = Int32Array.from({ length: calls }, () => Math.floor(Math.random() * keys))
  let length = 0
  const making = toNanoseconds(() => {
    for (const i of order) length += toKey(i).length
  })
  const calling = toNanoseconds(() => {
    for (const i of order) call(toKey(i))
  })
  return `${(calling - making).toFixed(0)} ns${length === 0 ? ' for nothing' : ''}`
}

function raise(error: Error | undefined): void {
  if (error) throw error
}

function createIncrement(overlapMs: number): { -readonly [N in keyof Increment]: Increment[N] } {
  const [key, hits, most, isStrict] = ['', 1, 4_294_967_295, true]
  return { key, window, unitSeconds, hits, most, isStrict, overlapMs, after: 0, previous: 0 }
}

/** Every key also has a counter in the previous window. */
async function measureSliding(keys: number): Promise<string> {
  await using store = openMemoryStore()
  const increment = createIncrement(unitSeconds * 500)
  const add = (key: string) => {
    increment.key = key
    store.add([increment], forever, raise)
  }
  for (const start of [window - unitSeconds, window]) {
    increment.window = start
    for (let i = 0; i < keys; i++) add(toKey(i))
  }
  return measureCall(keys, add)
}

for (const keys of [1000, 100_000, 1_000_000]) {
  const before = process.memoryUsage.rss()
  await using store = openMemoryStore()
  const increment = createIncrement(0)
  const increments = [increment]
  const add = (key: string) => {
    increment.key = key
    store.add(increments, forever, raise)
  }
  for (let i = 0; i < keys; i++) add(toKey(i))
  const resident = ((process.memoryUsage.rss() - before) / keys).toFixed(0)
  const counted = (store.bytes / keys).toFixed(0)
  const fixed = measureCall(keys, add)
  const sliding = await measureSliding(keys)
  console.log(
    `store, ${keys} keys: ${fixed} per add, ${sliding} in a sliding window, ` +
      `${counted} bytes per counter (${resident} of the process)`,
  )
}

for (const keys of [1000, 100_000]) {
  const cache = createLocalCache({ sizeInBytes: 2 ** 25, now: Date.now })
  for (let i = 0; i < keys; i++) cache.add(toKey(i), window, unitSeconds, 10)
  const hit = measureCall(keys, (key) => cache.isOver(key, window, 10, window))
  const miss = measureCall(keys, (key) => cache.isOver(key, window + 1, 10, window))
  console.log(`local cache, ${keys} keys: ${hit} per hit, ${miss} per miss`)
}

const before = process.memoryUsage.rss()
const clock = { now: Date.now() / 1000 }
const table = new CounterTable({ nowSeconds: () => clock.now, maxBytes: forever, evicts: false })
const pauses: number[] = []

function time(step: () => void): void {
  const start = performance.now()
  step()
  const pause = performance.now() - start
  if (pause > 0.1) pauses.push(pause)
}

/** The longest pause depends on the machine as much as on the code, so others are shown too. */
function report(what: string): void {
  const sorted = pauses.splice(0).sort((a, b) => b - a)
  const [first = 0, tenth = 0, hundredth = 0] = [sorted[0], sorted[9], sorted[99]]
  const resident = (process.memoryUsage.rss() - before) / 2 ** 20
  console.log(
    `${what}: longest ${first.toFixed(2)} ms, tenth longest ${tenth.toFixed(2)}, ` +
      `hundredth ${hundredth.toFixed(2)}; process ${resident.toFixed(0)} MiB`,
  )
}

for (let i = 0; i < 2_000_000; i++) {
  const key = toKey(i)
  time(() => table.add(key, window, unitSeconds, 1))
}
report('filling 2000000, each add')
clock.now += 2 * unitSeconds
while (table.size > 0) time(() => table.sweep(1 / 100, 8192))
report('dropping them, each sweep')
