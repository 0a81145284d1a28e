import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type CounterStore, type Increment, StoreError } from '../../src/counters/counter-store.ts'

/** The requirements for a store, by name. */
export type Points = Record<string, (store: CounterStore) => Promise<void>>

/** A week, so that the window does not end during the suite. */
export const unitSeconds = 604_800
export const unitMs = unitSeconds * 1000
export const window = Math.floor(Date.now() / 1000 / unitSeconds) * unitSeconds

/** The prefix of every key, so that the server can be shared with other tests. */
const prefix = `contract-${randomUUID()}_`
let keys = 0

/** Returns a new key. Like every key of the service, it ends in an underscore. */
export function newKey(): string {
  return `${prefix}${++keys}_`
}

export interface IncrementOptions {
  readonly startsAt?: number
  readonly most?: number
  readonly isStrict?: boolean
  /** Default: 0, a fixed window. */
  readonly overlapMs?: number
}

export function increment(key: string, hits: number, options: IncrementOptions = {}): Increment {
  const { startsAt = window, most = 4_294_967_295, isStrict = true, overlapMs = 0 } = options
  const [after, previous] = [Number.NaN, Number.NaN]
  return { key, window: startsAt, unitSeconds, hits, most, isStrict, overlapMs, after, previous }
}

/** A sliding counter at the very start of its window, when the previous window counts fully. */
export function sliding(key: string, hits: number, options: IncrementOptions = {}): Increment {
  return increment(key, hits, { most: 10, overlapMs: unitMs, ...options })
}

/** The number of outstanding callbacks, and of callbacks that were called more than once. */
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

/** Adds and returns the new counts; throws the error of the store. */
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
  // The hits of a read are ignored: if a store adds them, the next read reveals it.
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
