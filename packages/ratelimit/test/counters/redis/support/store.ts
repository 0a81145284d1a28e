import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Increment, StoreError } from '../../../../src/counters/counter-store.ts'
import { parseRedisAddress } from '../../../../src/counters/redis/address.ts'
import { openRedisStore, type RedisStore } from '../../../../src/counters/redis/redis-store.ts'
import type { RedisSettings } from '../../../../src/counters/redis/settings.ts'

export interface Lines {
  readonly lines: string[]
  readonly log: RedisSettings['log']
}

/** A log that keeps its lines. */
export function createLines(): Lines {
  const lines: string[] = []
  const at = (level: string) => (message: string | (() => string)) => {
    lines.push(`${level} ${typeof message === 'string' ? message : message()}`)
  }
  const [error, warning, info, debug] = [at('error'), at('warning'), at('info'), at('debug')]
  return { lines, log: { error, warning, info, debug } }
}

export interface StoreOptions extends Partial<RedisSettings> {
  readonly type?: string
  readonly socketType?: string
  readonly url: string
}

/** Long, so that calls do not fail because the machine was busy for a moment. */
const commandTimeoutMs = 120_000

/** Opens a store without waiting for it. It is closed after the test. */
export function openStore(t: Pick<TestContext, 'after'>, options: StoreOptions): RedisStore {
  const { type = 'single', socketType = 'tcp', url, ...settings } = options
  const address = parseRedisAddress({ type, socketType, url })
  const store = openRedisStore({ address, log: createLines().log, commandTimeoutMs, ...settings })
  t.after(() => store[Symbol.asyncDispose]())
  return store
}

export async function openReadyStore(
  t: Pick<TestContext, 'after'>,
  options: StoreOptions,
): Promise<RedisStore> {
  const store = openStore(t, options)
  await store.ready
  return store
}

export interface CountOptions {
  readonly unitSeconds?: number
  readonly window?: number
  readonly hits?: number
  readonly most?: number
  readonly isStrict?: boolean
  /** Default: 0, a fixed window. */
  readonly overlapMs?: number
  readonly deadlineMs?: number
}

const day = 86_400

export function toIncrement(key: string, options: CountOptions = {}): Increment {
  const { unitSeconds = day, hits = 1 } = options
  const window = options.window ?? windowOf(unitSeconds)
  const { most = 4_294_967_295, isStrict = true, overlapMs = 0 } = options
  const [after, previous] = [Number.NaN, Number.NaN]
  return { key, window, unitSeconds, hits, most, isStrict, overlapMs, after, previous }
}

/** The same for all tests of a file, so that no window ends during a test. */
const loadedAtMs = Date.now()

export function windowOf(unitSeconds: number): number {
  return Math.floor(loadedAtMs / 1000 / unitSeconds) * unitSeconds
}

/** Counts once and returns the new count. */
export function count(store: RedisStore, key: string, options: CountOptions = {}): Promise<number> {
  const increment = toIncrement(key, options)
  return new Promise((resolve, reject) => {
    store.add([increment], options.deadlineMs ?? Number.POSITIVE_INFINITY, (error) => {
      if (error) reject(error)
      else resolve(increment.after)
    })
  })
}

/** Makes one call with several counters and returns the new counts. */
export function callAll(
  store: RedisStore,
  method: 'add' | 'addSparing' | 'read',
  increments: readonly Increment[],
  deadlineMs = Number.POSITIVE_INFINITY,
): Promise<number[]> {
  return new Promise((resolve, reject) => {
    store[method](increments, deadlineMs, (error) => {
      if (error) reject(error)
      else resolve(increments.map(({ after }) => after))
    })
  })
}

/** Retries errors of the store until counting works. The time limit is only for hangs. */
export async function countUntilItWorks(
  store: RedisStore,
  key: string,
  options: CountOptions = {},
): Promise<number> {
  const givesUpAt = performance.now() + 120_000
  for (;;) {
    try {
      return await count(store, key, options)
    } catch (error) {
      if (!(error instanceof StoreError) || performance.now() > givesUpAt) throw error
      await sleep(20)
    }
  }
}
