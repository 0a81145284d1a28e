import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type CounterStore, type Increment, StoreError } from '../../src/counters/counter-store.ts'

/** What a store must do, by name. */
export type Points = Record<string, (store: CounterStore) => Promise<void>>

/** A week, so that no run of the suite meets the end of the window. */
export const unitSeconds = 604_800
export const unitMs = unitSeconds * 1000
export const window = Math.floor(Date.now() / 1000 / unitSeconds) * unitSeconds

/** Every key starts with this, so that a server that other tests use can be shared. */
const prefix = `contract-${randomUUID()}_`
let keys = 0

/** A key that nobody used before. Like every key of the service it ends in an underscore. */
export function newKey(): string {
  return `${prefix}${++keys}_`
}

export interface IncrementOptions {
  readonly startsAt?: number
  readonly most?: number
  readonly isStrict?: boolean
  /** 0 unless told: a fixed window. */
  readonly overlapMs?: number
}

export function increment(key: string, hits: number, options: IncrementOptions = {}): Increment {
  const { startsAt = window, most = 4_294_967_295, isStrict = true, overlapMs = 0 } = options
  const [after, previous] = [Number.NaN, Number.NaN]
  return { key, window: startsAt, unitSeconds, hits, most, isStrict, overlapMs, after, previous }
}

/** A sliding one at the very start of its window: all of the window before counts. */
export function sliding(key: string, hits: number, options: IncrementOptions = {}): Increment {
  return increment(key, hits, { most: 10, overlapMs: unitMs, ...options })
}

/** How many of our callbacks are still to come, and how many came too often. */
export const callbacks = { pending: 0, repeated: 0 }

export const methods = ['add', 'addSparing', 'read'] as const

export function call(
  store: CounterStore,
  method: (typeof methods)[number],
  increments: readonly Increment[],
  deadlineMs = Number.POSITIVE_INFINITY,
): Promise<StoreError | undefined> {
  return new Promise((resolve) => {
    let called = false
    callbacks.pending++
    store[method](increments, deadlineMs, (error) => {
      if (called) callbacks.repeated++
      else callbacks.pending--
      called = true
      resolve(error)
    })
  })
}

/** Adds and gives the counts after it; throws what the store reports. */
export async function add(
  store: CounterStore,
  increments: readonly Increment[],
  deadlineMs = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  const error = await call(store, 'add', increments, deadlineMs)
  if (error) throw error
  return increments.map(({ after }) => after)
}

export async function addSparing(
  store: CounterStore,
  increments: readonly Increment[],
): Promise<number[]> {
  const error = await call(store, 'addSparing', increments)
  if (error) throw error
  return increments.map(({ after }) => after)
}

/** Reads the counts of some keys in the window of the suite. */
export async function read(store: CounterStore, ...names: readonly string[]): Promise<number[]> {
  // The hits of a read mean nothing: a store that adds them is found out by the next read.
  return readThese(
    store,
    names.map((key) => increment(key, 7)),
  )
}

export async function readThese(
  store: CounterStore,
  increments: readonly Increment[],
): Promise<number[]> {
  const error = await call(store, 'read', increments)
  if (error) throw error
  return increments.map(({ after }) => after)
}

export function assertStoreError(error: StoreError | undefined): void {
  assert.ok(error instanceof StoreError, `a StoreError, not ${error}`)
  assert.notEqual(error.message, '')
}
