import { findSimilarName } from '@portcullis/service-kit/text/similar-names'
import type { CounterStore } from '../counters/counter-store.ts'
import { type KeyFormat, keyFormats } from '../decide/counter-key.ts'
import type { DecisionSettings } from '../decide/decision.ts'
import type { HeaderNames } from '../decide/headers.ts'
import type { Logger } from './limiter-log.ts'
import { toOptionsMessage, toUnknownOption } from './option-faults.ts'
import type { Limits } from './rules/limits.ts'
import { describe, isRecord, type ParsedLimits, parseLimits } from './rules/parse-limits.ts'
import type { RulesInput } from './rules/rules-input.ts'
import { type UnmatchedMode, unmatchedModes } from './rules/unmatched.ts'
import type { BreakerSettings } from './store/breaker.ts'
import { describeStores, isStoreUrl } from './store/store-by-url.ts'

/** The options of every limiter, wherever its rules come from. */
export interface SharedOptions {
  /** The domain of requests that do not name one. Default: the only domain of the rules, if there is one. */
  readonly domain?: string | undefined
  /**
   * `memory:` (the default), `redis://[user:password@]host:port[/db]`, `rediss://…`,
   * `redis-cluster://host:port,…`, `redis-sentinel://master,host:port,…`, `memcached://host:port,…`,
   * or your own object. The limiter closes only a store that it opened itself.
   */
  readonly store?: string | CounterStore | undefined
  /**
   * `memory`: while the store does not answer, this process counts on its own, so that each process allows
   * the full limit. Default: decisions fail immediately with a `StoreError`.
   */
  readonly fallback?: 'memory' | undefined
  /** When calls to a failing store are suspended; `false`: never. */
  readonly breaker?: BreakerSettings | false | undefined
  /**
   * What happens when no rule applies to a request, usually because of a misspelled domain or key: `warn` (the
   * default) allows it and logs each combination of keys once, `allow` allows it silently, `throw` rejects it
   * with an `UnmatchedError`.
   */
  readonly onUnmatched?: UnmatchedMode | undefined
  /**
   * Whether a counter that is over its limit is refused without the store until its window ends. It takes at
   * most 1 MiB. Refunds by other processes are not noticed until then. It does not apply to sliding windows or
   * to counters in memory. Default: true.
   */
  readonly localCache?: boolean | undefined
  /**
   * Whether `block` applies to all processes that use the same store. Every decision then also looks up
   * blocks, in the same write. Counters in memory do not need it. Default: false.
   */
  readonly sharedBlocks?: boolean | undefined
  /** How long `ready` waits for the store, in milliseconds. Default: 10 s. */
  readonly readyTimeoutMs?: number | undefined
  /** The default timeout of a decision, in milliseconds. Default: 1 s. */
  readonly timeoutMs?: number | undefined
  /** The prefix of every counter's name, to share a store with other programs. Default: empty. */
  readonly keyPrefix?: string | undefined
  /**
   * The names of counters: `exact` (the default), or `compatible` to share them with envoyproxy/ratelimit.
   */
  readonly keyFormat?: KeyFormat | undefined
  /** The share of a limit above which hits count as near it in the statistics. Default: 0.8. */
  readonly nearLimitRatio?: number | undefined
  /** Whether requests are only counted and never refused. Default: false. */
  readonly shadowMode?: boolean | undefined
  /** Whether the other counters stay unchanged when one limit refuses the request. Default: false. */
  readonly stopsIncrementWhenOver?: boolean | undefined
  /** The names of the three headers. Default: `RateLimit-Limit`, `RateLimit-Remaining`, `RateLimit-Reset`. */
  readonly headerNames?: HeaderNames | undefined
  /**
   * Receives warnings, such as that the store does not answer. Default: standard error; `false`: no warnings.
   */
  readonly logger?: Logger | false | undefined
  /** Receives the same messages as formatted lines, if there is no `logger`. */
  readonly log?: ((line: string) => void) | undefined
  /**
   * Called with the reason when the store stops answering: decisions fail or use the fallback from now on.
   */
  readonly onOutage?: ((error: Error) => void) | undefined
  /** Called when the store answers again. */
  readonly onRecovery?: (() => void) | undefined
  /** The time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** The options of a limiter whose rules are text or files. */
export interface RateLimiterOptions extends SharedOptions {
  /** YAML text, several texts by name, or a folder of files that is watched. */
  readonly rules: RulesInput
  /** For limits that are objects, see {@link KeyedLimiterOptions}. */
  readonly limits?: undefined
}

/** The options of a limiter whose limits are objects. */
export interface KeyedLimiterOptions<Given extends Limits = Limits> extends SharedOptions {
  /** Limits by the key they are counted by, such as `{ ip: '100/minute' }`. */
  readonly limits: Given
  /** For rules that are text or files, see {@link RateLimiterOptions}. */
  readonly rules?: undefined
}

/** The domain of limits that are objects, if the option `domain` is not set. */
export const defaultDomain = 'default'

/** Returns why a value is invalid; undefined if it is valid. */
type Check = (value: unknown) => string | undefined

const isNot = (wanted: string, value: unknown) => `must be ${wanted}, not ${describe(value)}`

const text: Check = (value) => (typeof value === 'string' ? undefined : isNot('a string', value))
const flag: Check = (value) =>
  typeof value === 'boolean' ? undefined : isNot('true or false', value)
const callback: Check = (value) =>
  typeof value === 'function' ? undefined : isNot('a function', value)
const milliseconds: Check = (value) =>
  typeof value === 'number' && value > 0
    ? undefined
    : isNot('a number of milliseconds above 0', value)

function oneOf(names: readonly string[]): Check {
  return (value) => {
    if (names.includes(value as string)) return undefined
    const meant = typeof value === 'string' ? findSimilarName(value, names) : undefined
    const wanted = names.map((name) => `'${name}'`).join(' or ')
    return `${isNot(wanted, value)}${meant === undefined ? '' : `. Did you mean '${meant}'?`}`
  }
}

const checks: { readonly [Name in keyof Required<RateLimiterOptions>]: Check } = {
  rules: (value) =>
    typeof value === 'string' || isRecord(value)
      ? undefined
      : isNot('YAML text, texts by name, or { directory }', value),
  limits: () => undefined,
  domain: (value) =>
    typeof value === 'string' && value !== ''
      ? undefined
      : isNot('a string that is not empty', value),
  store: checkStore,
  fallback: oneOf(['memory']),
  breaker: checkBreaker,
  onUnmatched: oneOf(unmatchedModes),
  localCache: flag,
  sharedBlocks: flag,
  readyTimeoutMs: milliseconds,
  timeoutMs: milliseconds,
  keyPrefix: text,
  keyFormat: oneOf(keyFormats),
  nearLimitRatio: (value) =>
    typeof value === 'number' && value >= 0 && value <= 1
      ? undefined
      : isNot('a number from 0 to 1', value),
  shadowMode: flag,
  stopsIncrementWhenOver: flag,
  headerNames: checkHeaderNames,
  logger: (value) =>
    value === false || (isRecord(value) && typeof value['warn'] === 'function')
      ? undefined
      : isNot('false or an object with a method warn, such as console', value),
  log: callback,
  onOutage: callback,
  onRecovery: callback,
  now: callback,
}

/**
 * Checks all options.
 * @throws TypeError that lists every error
 */
export function checkOptions(
  options: RateLimiterOptions | KeyedLimiterOptions,
): ParsedLimits | undefined {
  if (!isRecord(options)) {
    const example = "createRateLimiter({ limits: { ip: '100/minute' } })"
    throw new TypeError(`createRateLimiter takes an object: ${example}`)
  }
  const faults: string[] = []
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(checks, name)) faults.push(toUnknownOption(name, Object.keys(checks)))
    else if (value !== undefined) {
      const fault = checks[name as keyof typeof checks](value)
      if (fault !== undefined) faults.push(`${name} ${fault}`)
    }
  }
  const { rules, limits, domain = defaultDomain } = options
  if (rules !== undefined && limits !== undefined) {
    faults.push('rules and limits are mutually exclusive: set one of them')
  } else if (rules === undefined && limits === undefined) {
    faults.push("limits is missing: write { ip: '100/minute' }, or set rules to YAML text")
  }
  const parsed = limits === undefined ? undefined : parseLimits(limits, domain, faults)
  if (faults.length > 0) throw new TypeError(toOptionsMessage('createRateLimiter', faults))
  return parsed
}

function checkStore(value: unknown): string | undefined {
  if (typeof value === 'string') return isStoreUrl(value) ? undefined : describeStores(value)
  const isStore =
    isRecord(value) &&
    ['add', 'addSparing', 'read'].every((name) => typeof value[name] === 'function')
  return isStore ? undefined : isNot('a URL, or an object with add, addSparing and read', value)
}

function checkBreaker(value: unknown): string | undefined {
  if (value === false) return undefined
  if (!isRecord(value)) return isNot('false or { failures, pauseMs }', value)
  const { failures, pauseMs, ...others } = value
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `has no field ${unknown}; its fields are failures and pauseMs`
  if (failures !== undefined && !(Number.isInteger(failures) && Number(failures) > 0)) {
    return `has an invalid field failures: it ${isNot('a whole number above 0', failures)}`
  }
  const fault = pauseMs === undefined ? undefined : milliseconds(pauseMs)
  return fault && `has an invalid field pauseMs: it ${fault}`
}

function checkHeaderNames(value: unknown): string | undefined {
  const names = ['limit', 'remaining', 'reset']
  const isComplete = isRecord(value) && names.every((name) => typeof value[name] === 'string')
  return isComplete ? undefined : isNot(`an object with ${names.join(', ')}`, value)
}

/** The settings of decisions, with the defaults of the options. */
export function toDecisionSettings(options: SharedOptions): DecisionSettings {
  return {
    cacheKeyPrefix: options.keyPrefix ?? '',
    keyFormat: options.keyFormat ?? 'exact',
    nearLimitRatio: options.nearLimitRatio ?? 0.8,
    isShadowMode: options.shadowMode ?? false,
    isQuotaMode: false,
    stopsIncrementWhenOver: options.stopsIncrementWhenOver ?? false,
    headerNames: undefined,
    addsDynamicMetadata: false,
  }
}
