import { toQuestion } from '@portcullis/service-kit/text/similar-names'
import type { LimitRequest } from '../../limiter/limit-request.ts'
import type { LimitResult } from '../../limiter/limit-result.ts'
import type { LimitOptions } from '../../limiter/limiter-interface.ts'
import type { KeyValues } from '../../limiter/rules/limits.ts'
import { type HeaderStyle, headerStyles } from './header-styles.ts'
import type { LimitedOutcome } from './limited-answer.ts'

/** What a request is counted by, for rules that are text or files: the descriptors of `LimitRequest`. */
export type Descriptors = LimitRequest['descriptors']

/** The limiter of a middleware, as far as the middleware uses it. */
export interface Decider<Input> {
  /** Counts a request and returns whether it is allowed. */
  readonly limit: (request: Input, options?: LimitOptions) => Promise<LimitResult>
}

/** A limiter whose limits are objects, and the keys of a request. */
export interface KeyedOptions<Args extends readonly unknown[], Keys extends string> {
  /** The limiter. Several middlewares can share one. */
  readonly limiter: Decider<KeyValues<Keys>>
  /**
   * What the request is counted by: a value for each key of `limits` that applies to it. If the result is
   * `undefined`, the request is served without being counted.
   */
  readonly keys: (...args: Args) => MaybeLater<KeyValues<Keys> | undefined>
  /** Only for a limiter with `rules`. */
  readonly descriptors?: undefined
  /** Only for a limiter with `rules`. */
  readonly domain?: undefined
}

/** A limiter whose rules are text or files, and the descriptors of a request. */
export interface DescribedOptions<Args extends readonly unknown[]> {
  /** The limiter. Several middlewares can share one. */
  readonly limiter: Decider<LimitRequest>
  /**
   * The domain of the rules to apply. Default: `domain` of the limiter, or else the only one of its rules.
   */
  readonly domain?: string | undefined
  /** What the request is counted by. If the list is empty, the request is served without being counted. */
  readonly descriptors: (...args: Args) => MaybeLater<Descriptors>
  /** Only for a limiter with `limits`. */
  readonly keys?: undefined
}

type MaybeLater<Value> = Value | Promise<Value>

/**
 * Options of every middleware.
 * @typeParam Args the arguments that the framework passes to middlewares
 * @typeParam Keys the keys of `limits` of the limiter
 */
export type MiddlewareOptions<Args extends readonly unknown[], Keys extends string = string> = (
  | KeyedOptions<Args, Keys>
  | DescribedOptions<Args>
) &
  CommonOptions<Args>

/** The options that do not depend on the limiter. */
export interface CommonOptions<Args extends readonly unknown[]> {
  /** How many hits the request counts as. Default: 1. */
  readonly hits?: ((...args: Args) => MaybeLater<number>) | undefined
  /**
   * Requests for which it returns true are served without being counted, such as those for a health check.
   * Default: none.
   */
  readonly skip?: ((...args: Args) => MaybeLater<boolean>) | undefined
  /**
   * The header fields that report the limit.
   *
   * - Default: `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds), or the names in
   *   `headerNames` of the limiter.
   * - `draft-6`: these three and `RateLimit-Policy`, as in draft 6 of the IETF's RateLimit header fields.
   * - `draft-7`: `RateLimit: limit=, remaining=, reset=` and `RateLimit-Policy`.
   * - `draft-8`: `RateLimit: "key";r=;t=` and `RateLimit-Policy: "key";q=;w=`, with an item for each limit
   *   that applied, named after the keys that it counts by.
   * - `legacy`: `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` (Unix time in seconds).
   * - `false`: none of them.
   *
   * The response to a refused request always has `Retry-After`.
   */
  readonly headers?: HeaderStyle | false | undefined
  /**
   * Creates the response to a request that is over a limit. Default, also if it returns undefined: 429 with
   * `{"error":"Too many requests. Try again in 12 seconds."}`.
   */
  readonly onLimited?:
    | ((result: LimitResult, ...args: Args) => MaybeLater<LimitedOutcome>)
    | undefined
  /** How long a decision may take, in milliseconds. Default: 1000. */
  readonly timeoutMs?: number | undefined
  /**
   * What happens to a request when no decision can be made, because the store does not answer: `allow`
   * serves it, `deny` answers 503. Default: `allow`.
   */
  readonly onFailure?: 'allow' | 'deny' | undefined
  /**
   * Called with the reason each time no decision can be made. Default: `warn` receives a message, at most
   * once a minute.
   */
  readonly report?: ((error: unknown) => void) | undefined
  /**
   * Receives a message about each probable misconfiguration, once. `false` turns warnings off. Default:
   * `process.emitWarning`.
   */
  readonly warn?: ((message: string) => void) | false | undefined
}

/** Returns why a value is invalid; undefined if it is valid. */
type Check = (value: unknown) => string | undefined

const mustBeFunction: Check = (value) =>
  typeof value === 'function' ? undefined : 'must be a function'

function mustBeOneOf(allowed: readonly unknown[]): Check {
  return (value) =>
    allowed.includes(value) ? undefined : `must be ${allowed.map((one) => show(one)).join(', ')}`
}

const checks: Readonly<Record<keyof MiddlewareOptions<[]>, Check>> = {
  limiter: (value) =>
    typeof (value as Partial<Decider<never>> | null)?.limit === 'function'
      ? undefined
      : 'must be what createRateLimiter() returns',
  keys: (value) =>
    typeof value === 'function'
      ? undefined
      : 'must be a function that returns an object, such as (request) => ({ ip: ipKey(request.ip) })',
  domain: (value) =>
    typeof value === 'string' && value !== '' ? undefined : 'must be the domain of your rules',
  descriptors: (value) =>
    typeof value === 'function'
      ? undefined
      : 'must be a function that returns a list, such as (request) => [{ ip: ipKey(request.ip) }]',
  hits: mustBeFunction,
  skip: mustBeFunction,
  headers: mustBeOneOf([...headerStyles, false]),
  onLimited: mustBeFunction,
  timeoutMs: (value) =>
    typeof value === 'number' && value > 0 ? undefined : 'must be a number of milliseconds above 0',
  onFailure: mustBeOneOf(['allow', 'deny']),
  report: mustBeFunction,
  warn: (value) =>
    typeof value === 'function' || value === false ? undefined : 'must be a function or false',
}

/** The counterparts of options of widely used limiters. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ['keyGenerator', 'Return the key from `keys`: keys: (request) => ({ ip: ipKey(request.ip) }).'],
  ['key', 'Return the key from `keys`: keys: (request) => ({ ip: ipKey(request.ip) }).'],
  ['handler', 'Return the response from `onLimited`.'],
  ['message', 'Return the response from `onLimited`.'],
  ['standardHeaders', "Use `headers: 'draft-8'`."],
  ['legacyHeaders', "Use `headers: 'legacy'`."],
  ...['max', 'limit', 'windowMs', 'timeWindow', 'points', 'duration'].map(
    (name) =>
      [name, "Limits are options of createRateLimiter(): limits: { ip: '100/minute' }."] as const,
  ),
  ['store', 'The store is an option of createRateLimiter().'],
  ['ipv6Subnet', 'Use ipKey(address, { v6: 56 }) in `keys`.'],
  ['passOnStoreError', "Use `onFailure: 'allow'`, which is the default."],
])

/** @throws TypeError that names the option and how to correct it */
export function checkOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('limitRequests: call it with { limiter, keys } or { limiter, descriptors }')
  }
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(checks, name) ? checks[name as keyof typeof checks] : undefined
    if (check === undefined) throw new TypeError(toUnknownOption(name))
    if (value === undefined) continue
    const fault = check(value)
    if (fault !== undefined) {
      throw new TypeError(`limitRequests: ${name} ${fault}, not ${show(value)}`)
    }
  }
  const { limiter, keys, descriptors, domain } = options as Record<string, unknown>
  if (limiter === undefined) {
    throw new TypeError(`limitRequests: limiter is missing; it ${checks.limiter(undefined)}`)
  }
  if ((keys === undefined) === (descriptors === undefined)) {
    const fault =
      keys === undefined ? 'keys is missing' : 'keys and descriptors are mutually exclusive'
    throw new TypeError(
      `limitRequests: ${fault}: use keys for a limiter with limits, and descriptors for one with rules`,
    )
  }
  if (keys !== undefined && domain !== undefined) {
    throw new TypeError('limitRequests: domain is only for descriptors; limits by keys have none')
  }
}

function toUnknownOption(name: string): string {
  const names = Object.keys(checks)
  const hint = otherNames.get(name) ?? toQuestion(name, names).trim()
  return `limitRequests: unknown option '${name}'. ${hint || `The options are ${names.join(', ')}.`}`
}

function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  return typeof value === 'object' || typeof value === 'function' ? typeof value : String(value)
}
