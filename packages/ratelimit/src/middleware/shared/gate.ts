import process from 'node:process'
import { toHeaderFields } from './header-styles.ts'
import {
  type Answer,
  type HeaderPair,
  toAnswer,
  toDefaultAnswer,
  unavailable,
} from './limited-answer.ts'
import { checkOptions, type MiddlewareOptions } from './options.ts'
import { findProxyFault, type Peer } from './proxy-warning.ts'

/** What to do with a request: header fields for its response, and an answer where it is refused. */
export interface Outcome {
  readonly headers: readonly HeaderPair[]
  readonly answer: Answer | undefined
}

const passes: Outcome = { headers: [], answer: undefined }

/**
 * The part of all middlewares that knows no framework.
 *
 * @throws TypeError when an option is unknown or wrong
 */
export function createGate<Args extends readonly unknown[]>(
  options: MiddlewareOptions<Args>,
  peer: Peer<Args>,
): (...args: Args) => Promise<Outcome> {
  checkOptions(options)
  const { limiter, domain, timeoutMs = 1_000, onFailure = 'allow', headers: style } = options
  const { skip, hits: countHits, onLimited } = options
  const warn = toWarn(options.warn)
  const failures = createFailureReport(options.report, warn, onFailure)
  let looksForProxy = warn !== undefined

  return async (...args) => {
    if (skip !== undefined && (await skip(...args))) return passes
    const descriptors = await options.descriptors(...args)
    if (descriptors.length === 0) return passes
    if (looksForProxy) {
      const fault = findProxyFault(peer, descriptors, args)
      if (fault !== undefined) {
        looksForProxy = false
        warn?.(fault)
      }
    }
    const hits = await countHits?.(...args)
    const request = { domain, descriptors, ...(hits !== undefined && { hits }) }
    let result: Awaited<ReturnType<typeof limiter.limit>>
    try {
      result = await limiter.limit(request, { timeoutMs })
      failures.end()
    } catch (error) {
      // The caller's own mistake must not look like an outage, during which requests are allowed.
      if (error instanceof TypeError) throw error
      failures.report(error)
      return onFailure === 'allow' ? passes : { headers: unavailable.headers, answer: unavailable }
    }

    const fields = toFields(style, result, descriptors)
    if (result.isAllowed) return { headers: fields, answer: undefined }
    const answer =
      onLimited === undefined
        ? toDefaultAnswer(result)
        : await toAnswer(await onLimited(result, ...args), result)
    const retryAfter: HeaderPair = ['retry-after', `${result.retryAfterSeconds ?? 1}`]
    return { headers: mergeHeaders([...fields, retryAfter], answer.headers), answer }
  }

  function toFields(
    chosen: typeof style,
    result: Parameters<typeof toHeaderFields>[1],
    descriptors: Parameters<typeof toHeaderFields>[2],
  ): readonly HeaderPair[] {
    if (chosen === undefined) return result.headers
    return chosen === false ? [] : toHeaderFields(chosen, result, descriptors)
  }
}

/** What the answer sets replaces what the middleware would set. */
function mergeHeaders(
  fields: readonly HeaderPair[],
  own: readonly HeaderPair[],
): readonly HeaderPair[] {
  const names = new Set(own.map(([name]) => name.toLowerCase()))
  return [...fields.filter(([name]) => !names.has(name.toLowerCase())), ...own]
}

function toWarn(warn: MiddlewareOptions<[]>['warn']): ((message: string) => void) | undefined {
  if (warn === false) return undefined
  return warn ?? ((message) => process.emitWarning(message, 'RateLimitWarning'))
}

/** A store that is down fails with every request: without `report` only the first one is written. */
function createFailureReport(
  report: ((error: unknown) => void) | undefined,
  warn: ((message: string) => void) | undefined,
  onFailure: 'allow' | 'deny',
): { report(error: unknown): void; end(): void } {
  if (report !== undefined) return { report, end: () => {} }
  let isWarned = false
  const consequence =
    onFailure === 'allow' ? 'requests are served uncounted' : 'requests are answered with 503'
  return {
    report(error) {
      if (isWarned) return
      isWarned = true
      const reason = error instanceof Error ? error.message : String(error)
      warn?.(`The rate limit cannot be checked, so ${consequence} (onFailure): ${reason}`)
    },
    end() {
      isWarned = false
    },
  }
}
