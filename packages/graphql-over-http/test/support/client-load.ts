/**
 * Sends many requests through one client and prints, as JSON, by how much the heap has grown. It runs
 * in its own process, started with --expose-gc, so that nothing else changes the heap.
 */
import { getEventListeners } from 'node:events'
import { createClient, type FetchResponse } from '../../src/client.ts'

const { gc } = globalThis
if (!gc) throw new Error('start with --expose-gc')
const [requests = 0, leaked = 0] = process.argv.slice(2).map(Number)

const CONCURRENT = 1000
const REQUEST = { query: '{ hello }', variables: { a: 1 } }
const RESPONSE: FetchResponse = {
  ok: true,
  status: 200,
  statusText: 'OK',
  headers: { get: () => 'application/json' },
  json: async () => ({ data: { hello: 'world' } }),
}
const shared = new AbortController()
let sent = 0
let maxListeners = 0

const client = createClient({
  url: 'http://test',
  shouldRetry: (_, retries) => retries < 1,
  fetchFn: async () => {
    // Some requests are retried and some fail; these must not leak either.
    if (sent++ % 100 === 99) throw new Error('down')
    return RESPONSE
  },
})

const subscribe = () =>
  new Promise<void>((resolve) => {
    client.subscribe(REQUEST, { next() {}, error: () => resolve(), complete: resolve })
  })
const cancel = () =>
  new Promise<void>((complete) => {
    client.subscribe(REQUEST, { next() {}, error() {}, complete })()
  })
const execute = () => client.execute(REQUEST, { signal: shared.signal })
const iterate = () => client.iterate(REQUEST).next()

async function load(send: () => Promise<unknown>, count: number): Promise<void> {
  for (let done = 0; done < count; done += CONCURRENT) {
    const batch = Array.from({ length: CONCURRENT }, send)
    maxListeners = Math.max(maxListeners, getEventListeners(shared.signal, 'abort').length)
    await Promise.allSettled(batch)
  }
}

/** Mostly plain requests, and a twentieth of each other kind. */
async function loadAll(count: number): Promise<void> {
  for (const send of [cancel, execute, iterate]) await load(send, count / 20)
  await load(subscribe, (count * 17) / 20)
}

async function measureHeap(): Promise<number> {
  // Several rounds, since finalizers free objects that only the next round can collect.
  for (let round = 0; round < 5; round++) {
    gc?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}

await loadAll(40_000)
const before = await measureHeap()
await loadAll(requests)

// A control measurement: requests that never settle must show up.
const stuck = createClient({ url: 'http://test', fetchFn: () => new Promise(() => {}) })
for (let index = 0; index < leaked; index++) {
  stuck.subscribe(REQUEST, { next() {}, error() {}, complete() {} })
}

const grownBytes = (await measureHeap()) - before
const listeners = getEventListeners(shared.signal, 'abort').length
console.log(JSON.stringify({ sent, grownBytes, listeners, maxListeners }))
// Keeps both objects alive until here.
client.dispose()
stuck.dispose()
