import type { ServerResponse } from 'node:http'
import { toMessage } from '@portcullis/service-kit/text/reason'
import type { LimitResult } from '../../limiter/limit-result.ts'
import type { LimitOptions } from '../../limiter/limiter-interface.ts'
import type { KeyValues } from '../../limiter/rules/limits.ts'
import { type HeaderStyle, isAppended, toHeaderFields } from './header-styles.ts'
import {
  type Answer,
  type HeaderPair,
  toAnswer,
  toDefaultAnswer,
  unavailable,
} from './limited-answer.ts'
import {
  type CommonOptions,
  checkOptions,
  type Descriptors,
  type MiddlewareOptions,
} from './options.ts'
import { findProxyFault, type Peer } from './proxy-warning.ts'

/** The outcome for a request: header fields for its response, and a complete response if it is refused. */
export interface Outcome {
  readonly headers: readonly HeaderPair[]
  readonly answer: Answer | undefined
}

const passes: Outcome = { headers: [], answer: undefined }

/**
 * The part of all middlewares that does not depend on a framework.
 *
 * @throws TypeError when an option is unknown or invalid
 */
export function createGate<Args extends readonly unknown[], Keys extends string>(
  options: MiddlewareOptions<Args, Keys>,
  peer: Peer<Args>,
): (...args: Args) => Promise<Outcome> {
  checkOptions(options)
  const { timeoutMs = 1_000, onFailure = 'allow', headers: style } = options
  const { skip, hits: countHits, onLimited } = options
  const warn = toWarn(options.warn)
  const failures = createFailureReport(options.report, warn, onFailure)
  let looksForProxy = warn !== undefined

  return async (...args) => {
    if (skip !== undefined && (await skip(...args))) return passes
    const given = (options.keys ?? options.descriptors)(...args)
    // Most values are not promises, and awaiting such a value would cost a turn of the microtask queue.
    const counted = isPromise(given) ? await given : given
    if (counted === undefined || (Array.isArray(counted) && counted.length === 0)) return passes
    if (looksForProxy) {
      const fault = findProxyFault(peer, counted, args)
      if (fault !== undefined) {
        looksForProxy = false
        warn?.(fault)
      }
    }
    const hits = countHits === undefined ? undefined : await countHits(...args)
    let result: LimitResult
    try {
      result = await decide(options, counted, { timeoutMs, hits })
    } catch (error) {
      // An error of the caller must not look like an outage, during which requests are allowed.
      if (error instanceof TypeError) throw error
      failures(error)
      return onFailure === 'allow' ? passes : { headers: unavailable.headers, answer: unavailable }
    }

    const fields = toFields(style, result)
    if (result.isAllowed) return { headers: fields, answer: undefined }
    const answer =
      onLimited === undefined
        ? toDefaultAnswer(result)
        : await toAnswer(await onLimited(result, ...args), result)
    const retryAfter: HeaderPair = ['retry-after', `${result.retryAfterSeconds ?? 1}`]
    return { headers: mergeHeaders([...fields, retryAfter], answer.headers), answer }
  }
}

function isPromise<Value>(value: Value | PromiseLike<Value>): value is PromiseLike<Value> {
  return typeof (value as { readonly then?: unknown } | undefined)?.then === 'function'
}

function decide<Args extends readonly unknown[], Keys extends string>(
  options: MiddlewareOptions<Args, Keys>,
  counted: Descriptors | KeyValues<Keys>,
  limitOptions: LimitOptions,
): Promise<LimitResult> {
  if (options.keys !== undefined) {
    return options.limiter.limit(counted as KeyValues<Keys>, limitOptions)
  }
  const { limiter, domain } = options
  return limiter.limit({ domain, descriptors: counted as Descriptors }, limitOptions)
}

function toFields(style: HeaderStyle | false | undefined, result: LimitResult) {
  if (style === undefined) return result.headers
  return style === false ? [] : toHeaderFields(style, result)
}

/** Header fields from `onLimited` replace those of the middleware. */
function mergeHeaders(
  fields: readonly HeaderPair[],
  custom: readonly HeaderPair[],
): readonly HeaderPair[] {
  const names = new Set(custom.map(([name]) => name.toLowerCase()))
  return [...fields.filter(([name]) => !names.has(name.toLowerCase())), ...custom]
}

function toWarn(warn: CommonOptions<[]>['warn']): ((message: string) => void) | undefined {
  if (warn === false) return undefined
  return warn ?? ((message) => globalThis.process.emitWarning(message, 'RateLimitWarning'))
}

/** The minimum time between two warnings. */
const warningPauseMs = 60_000

/** A store that is down fails every request, so without `report` only one failure per minute is reported. */
function createFailureReport(
  report: ((error: unknown) => void) | undefined,
  warn: ((message: string) => void) | undefined,
  onFailure: 'allow' | 'deny',
): (error: unknown) => void {
  if (report !== undefined) return report
  let warnsAtMs = Number.NEGATIVE_INFINITY
  const consequence =
    onFailure === 'allow' ? 'requests are served uncounted' : 'requests are answered with 503'
  return (error) => {
    const nowMs = performance.now()
    if (nowMs < warnsAtMs) return
    warnsAtMs = nowMs + warningPauseMs
    warn?.(`The rate limit cannot be checked, so ${consequence} (onFailure): ${toMessage(error)}`)
  }
}

/**
 * Returns whether to serve the request; if not, it has been answered. For hosts with Node's response objects.
 */
export function sendOutcome({ headers, answer }: Outcome, response: ServerResponse): boolean {
  // A timeout may have answered it, or its client may have closed the connection.
  if (response.headersSent || response.destroyed) return false
  for (const [name, value] of headers) {
    if (isAppended(name)) response.appendHeader(name, value)
    else response.setHeader(name, value)
  }
  if (answer === undefined) return true
  response.statusCode = answer.status
  response.end(answer.body)
  return false
}
