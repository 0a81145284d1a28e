import { basename, dirname, resolve } from 'node:path'
import process from 'node:process'
import { createLog, type Log } from '@portcullis/service-kit/log'
import { type CounterStore, StoreError } from '../counters/counter-store.ts'
import type { KeyFormat } from '../decide/counter-key.ts'
import type { DecisionSettings } from '../decide/decision.ts'
import type { HeaderNames } from '../decide/headers.ts'
import { createEngine, type Engine } from '../engine.ts'
import { openFileSource } from '../rules/sources/file.ts'
import type { RuleSource } from '../rules/sources/source.ts'
import { createLateStore } from './late-store.ts'
import { type LimitRequest, toRateLimitRequest } from './limit-request.ts'
import { type LimitResult, toLimitResult } from './limit-result.ts'
import { isDirectory, parseRulesText, type RulesInput, type RulesText } from './rules-input.ts'
import { findScheme, memoryUrl, openMemory, toUnknownScheme } from './store-by-url.ts'

export interface RateLimiterOptions {
  /** YAML text, several texts by name, or a directory of files that is watched. */
  readonly rules: RulesInput
  /**
   * `memory:` (the default), `redis://[user:password@]host:port[/db]`, `rediss://…`,
   * `redis-cluster://host:port,…`, `redis-sentinel://master,host:port,…`, `memcached://host:port,…`,
   * or a store of your own. The limiter closes what it opened itself.
   */
  readonly store?: string | CounterStore
  /** In front of every counter's name, to share a store with others. */
  readonly keyPrefix?: string
  /** The names of counters: 'compatible' to share a store with envoyproxy/ratelimit. */
  readonly keyFormat?: KeyFormat
  /** From which part of a limit on hits count as near it. */
  readonly nearLimitRatio?: number
  /** Whether nothing is ever refused, only counted. */
  readonly shadowMode?: boolean
  /** Whether one limit that refuses leaves the counters of the others as they are. */
  readonly stopsIncrementWhenOver?: boolean
  readonly headerNames?: HeaderNames
  /** Gets what an operator should know, a line each. Standard error unless told. */
  readonly log?: (line: string) => void
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

/** The decisions of the service inside your own process. */
export interface RateLimiter extends AsyncDisposable {
  /** Rules are loaded and the store answers. `limit` waits for it too. */
  readonly ready: Promise<void>
  /**
   * Counts the request and says whether it may pass.
   * @throws {StoreError} when the store does not answer
   * @throws {ServiceError} when there are no rules, or no domain or descriptor is named
   */
  limit(request: LimitRequest, options?: LimitOptions): Promise<LimitResult>
  /** Other rules from now on. Counters stay. Not for a limiter that watches a directory. */
  load(rules: RulesText): void
  /** Name and value of every statistic, sorted by name. */
  statistics(): Promise<(readonly [name: string, value: number])[]>
}

export interface LimitOptions {
  /**
   * How long the answer is waited for, and before it for rules and store; 1 s unless told. More helps only
   * until both are there: Redis has at most 1 s for an answer, memcached half of it.
   */
  readonly timeoutMs?: number
}

const defaultHeaderNames: HeaderNames = {
  limit: 'RateLimit-Limit',
  remaining: 'RateLimit-Remaining',
  reset: 'RateLimit-Reset',
}

/**
 * Answers what the service would answer, without it:
 *
 * ```ts
 * const limiter = createRateLimiter({ rules: await readFile('limits.yaml', 'utf8') })
 * const { isAllowed } = await limiter.limit({ domain: 'api', descriptors: [{ user: 'alice' }] })
 * ```
 *
 * @throws {RulesError} when the text of the rules is wrong, with all that is wrong in it
 * @throws {TypeError} when the store is a URL that nobody knows
 */
export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { rules, now = Date.now } = options
  const write = options.log ?? ((line: string) => process.stderr.write(line))
  const log = createLog({ level: 'warning', format: 'text', write })
  const parsed = isDirectory(rules) ? undefined : parseRulesText(rules)
  const { store, ready: storeReady, close } = openStore(options.store ?? memoryUrl, log, now)
  const engine = createEngine({ rules: parsed, store, now, settings: toSettings(options) })
  const source = isDirectory(rules) ? openDirectory(rules, engine, log) : undefined
  let isReady = false
  const ready = Promise.all([storeReady, source?.firstAttempt]).then(() => {
    isReady = true
  })
  // Who does not wait for it learns of it with the first request.
  ready.catch(() => undefined)

  return {
    ready,
    async limit(request, { timeoutMs = 1_000 } = {}) {
      const message = toRateLimitRequest(request)
      const deadlineMs = Date.now() + timeoutMs
      if (!isReady) await waitAtMost(timeoutMs, ready)
      return await new Promise((resolve, reject) => {
        engine.decide(message, deadlineMs, (error, response) => {
          if (response === undefined) reject(error)
          else resolve(toLimitResult(response))
        })
      })
    },
    load(text) {
      if (source !== undefined)
        throw new TypeError('the rules come from the directory of the limiter')
      engine.load(parseRulesText(text))
    },
    async statistics() {
      const lines: (readonly [string, number])[] = []
      for await (const line of engine.statistics.lines()) lines.push(line)
      return lines
    },
    async [Symbol.asyncDispose]() {
      await source?.[Symbol.asyncDispose]()
      await close()
    },
  }
}

async function waitAtMost(timeoutMs: number, ready: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    reject(new StoreError(`the rate limiter was not ready within ${timeoutMs} ms`))
  }, timeoutMs)
  try {
    await Promise.race([ready, late])
  } finally {
    clearTimeout(timer)
  }
}

function toSettings(options: RateLimiterOptions): Partial<DecisionSettings> {
  return {
    cacheKeyPrefix: options.keyPrefix ?? '',
    keyFormat: options.keyFormat ?? 'exact',
    nearLimitRatio: options.nearLimitRatio ?? 0.8,
    isShadowMode: options.shadowMode ?? false,
    stopsIncrementWhenOver: options.stopsIncrementWhenOver ?? false,
    headerNames: options.headerNames ?? defaultHeaderNames,
  }
}

function openStore(given: string | CounterStore, log: Log, now: () => number) {
  if (typeof given !== 'string') {
    return { store: given, ready: Promise.resolve(), close: async () => {} }
  }
  const open = findScheme(given)
  if (open === undefined && given !== memoryUrl) throw new TypeError(toUnknownScheme(given))
  const opened = open === undefined ? openMemory(now) : createLateStore(open(given, log))
  return { ...opened, close: () => opened.store[Symbol.asyncDispose]() }
}

function openDirectory(
  { directory, mergeDomains = false }: { directory: string; mergeDomains?: boolean },
  engine: Engine,
  log: Log,
): RuleSource {
  const path = resolve(directory)
  return openFileSource({
    root: dirname(path),
    subdirectory: '',
    appDirectory: basename(path),
    watchRoot: false,
    ignoreDotFiles: true,
    mergeDomains,
    log,
    counters: engine.statistics.rules,
    onSnapshot: (snapshot) => engine.use(snapshot),
    onFailure: () => {},
    statistics: {
      loadAttempts: engine.statistics.counter('runtime.load_attempts'),
      loadFailures: engine.statistics.counter('runtime.load_failures'),
      fileCount: { value: 0 },
    },
  })
}
