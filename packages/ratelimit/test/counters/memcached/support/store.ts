import type { TestContext } from 'node:test'
import type { CounterStore, Increment, StoreError } from '../../../../src/counters/counter-store.ts'
import {
  type MemcachedStore,
  openMemcachedStore,
} from '../../../../src/counters/memcached/memcached-store.ts'
import type { MemcachedSettings } from '../../../../src/counters/memcached/settings.ts'
import { createLines } from '../../redis/support/store.ts'

export interface StoreOptions extends Partial<MemcachedSettings> {
  /** The ports of local nodes. */
  readonly ports?: readonly number[]
}

/** Long, so that calls do not skip a node because the machine was busy for a moment. */
const timeoutMs = 60_000

/** Opens a store without waiting for it. It is closed after the test. */
export function openStore(
  t: Pick<TestContext, 'after'>,
  { ports = [], ...settings }: StoreOptions,
): MemcachedStore {
  const hosts = ports.map((port) => `127.0.0.1:${port}`)
  const nodes = { kind: 'list', hosts } as const
  const store = openMemcachedStore({ nodes, log: createLines().log, timeoutMs, ...settings })
  t.after(() => store[Symbol.asyncDispose]())
  return store
}

export async function openReadyStore(
  t: Pick<TestContext, 'after'>,
  options: StoreOptions,
): Promise<MemcachedStore> {
  const store = openStore(t, options)
  await store.ready
  return store
}

export interface CountOptions {
  readonly unitSeconds?: number
  readonly hits?: number
  readonly most?: number
  /** Default: 0, a fixed window. */
  readonly overlapMs?: number
  readonly window?: number
  readonly deadlineMs?: number
}

/** The default window of increments in these tests, so that names are predictable. */
export const window = 86_400 * 20_000

export function toIncrement(key: string, options: CountOptions = {}): Increment {
  const { unitSeconds = 86_400, hits = 1, most = 4_294_967_295, overlapMs = 0 } = options
  const startsAt = options.window ?? window
  const [isStrict, after, previous] = [true, Number.NaN, Number.NaN]
  return { key, window: startsAt, unitSeconds, hits, most, isStrict, overlapMs, after, previous }
}

function run(
  store: CounterStore,
  method: 'add' | 'read',
  increments: readonly Increment[],
  deadlineMs = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  return new Promise((resolve, reject) => {
    store[method](increments, deadlineMs, (error: StoreError | undefined) => {
      if (error) reject(error)
      else resolve(increments.map(({ after }) => after))
    })
  })
}

/** Counts several and returns the new counts. */
export function countAll(
  store: CounterStore,
  increments: readonly Increment[],
  deadlineMs?: number,
): Promise<number[]> {
  return run(store, 'add', increments, deadlineMs)
}

/** Counts once and returns the new count. */
export async function count(
  store: CounterStore,
  key: string,
  options: CountOptions = {},
): Promise<number> {
  const [after = Number.NaN] = await countAll(
    store,
    [toIncrement(key, options)],
    options.deadlineMs,
  )
  return after
}

export async function read(store: CounterStore, key: string): Promise<number> {
  const [after = Number.NaN] = await run(store, 'read', [toIncrement(key)])
  return after
}
