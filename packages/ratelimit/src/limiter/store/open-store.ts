import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
import { type CounterStore, StoreError } from '../../counters/counter-store.ts'
import type { EncodedCounters } from '../../counters/memory/memory-store.ts'
import type { UrlStore } from '../../counters/store-plugin.ts'
import { createLocalCache, type LocalCache } from '../../hot/index.ts'
import type { SharedOptions } from '../options.ts'
import { createBreaker } from './breaker.ts'
import { GuardedStore } from './guarded-store.ts'
import { findScheme, memoryUrl, openMemory } from './store-by-url.ts'

export interface LimiterStore {
  readonly store: CounterStore
  /** The same store, if counters are in memory. */
  readonly counters: EncodedCounters | undefined
  /** Undefined for counters in memory, which are always available. */
  readonly guard: GuardedStore | undefined
  /** Undefined if it is disabled, and for counters in memory, which are as fast as the cache. */
  readonly localCache: LocalCache | undefined
  /** Resolves when the store answers or is known to be unavailable. Rejects when it cannot be used at all. */
  readonly firstAttempt: Promise<void>
  /** Resolves when the store answers. */
  readonly answers: Promise<void>
  readonly close: () => Promise<void>
}

/** The size of the local cache. */
const cacheBytes = 1024 * 1024

/** Opens the store of a limiter, with a circuit breaker and an optional fallback. */
export function openLimiterStore(
  options: SharedOptions,
  log: Log,
  now: () => number,
): LimiterStore {
  const { store: given = memoryUrl } = options
  if (given === memoryUrl) {
    const store = openMemory(now)
    const close = async () => await store[Symbol.asyncDispose]()
    const done = Promise.resolve()
    return {
      store,
      counters: store,
      guard: undefined,
      localCache: undefined,
      firstAttempt: done,
      answers: done,
      close,
    }
  }
  const fallback = options.fallback === 'memory' ? openMemory(now) : undefined
  const consequence =
    fallback === undefined
      ? 'decisions fail until it answers'
      : 'this process counts in memory until it answers'
  const breaker = createBreaker(options, log, { name: 'store', consequence })
  const settings = { fallback, breaker }
  const localCache =
    options.localCache === false ? undefined : createLocalCache({ sizeInBytes: cacheBytes, now })
  if (typeof given !== 'string') {
    const guard = new GuardedStore(given, settings)
    const close = async () => await fallback?.[Symbol.asyncDispose]()
    const done = Promise.resolve()
    const counters = undefined
    return { store: guard, counters, guard, localCache, firstAttempt: done, answers: done, close }
  }
  const open = findScheme(given)
  if (open === undefined) throw new TypeError('the URL of the store has an unknown scheme')
  const firstAttempt = Promise.withResolvers<void>()
  const onFailedStart = (cause: unknown) => {
    const reason = toReason(cause)
    guard.markUnavailable(new StoreError(`the store cannot be reached: ${reason}`, { cause }))
    firstAttempt.resolve()
  }
  const late = createLateStore(open(given, { log, onFailedStart }))
  const guard = new GuardedStore(late.store, settings)
  late.ready.then(
    () => {
      guard.markAvailable()
      firstAttempt.resolve()
    },
    (error: unknown) => {
      onFailedStart(error)
      firstAttempt.reject(error)
    },
  )
  // Callers that do not await it get the error with their decisions.
  firstAttempt.promise.catch(() => undefined)
  return {
    store: guard,
    counters: undefined,
    guard,
    localCache,
    firstAttempt: firstAttempt.promise,
    answers: late.ready,
    async close() {
      await late.store[Symbol.asyncDispose]()
      await fallback?.[Symbol.asyncDispose]()
    },
  }
}

/** A store whose driver is still being loaded. Before `ready` it can only be closed. */
function createLateStore(opening: Promise<UrlStore>): UrlStore {
  let opened: CounterStore | undefined
  const ready = opening.then(async ({ store, ready: answers }) => {
    opened = store
    await answers
  })
  ready.catch(() => undefined)
  const late =
    (method: 'add' | 'addSparing' | 'read'): CounterStore['add'] =>
    (increments, deadlineMs, counted) => {
      if (opened === undefined) counted(new StoreError('the store is not open yet'))
      else opened[method](increments, deadlineMs, counted)
    }
  const store: CounterStore = {
    add: late('add'),
    addSparing: late('addSparing'),
    read: late('read'),
    async [Symbol.asyncDispose]() {
      // A store that could not be opened has nothing to close.
      const store = await opening.then((each) => each.store).catch(() => undefined)
      await store?.[Symbol.asyncDispose]()
    },
  }
  return { store, ready }
}
