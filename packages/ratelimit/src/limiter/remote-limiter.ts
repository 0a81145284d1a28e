import { highestCount, StoreError } from '../counters/counter-store.ts'
import type { HeaderNames } from '../decide/headers.ts'
import { unlimitedRemaining } from '../decide/tally.ts'
import type { RateLimitRequest } from '../protocol/message.ts'
import { unitByName } from '../rules/model/rule.ts'
import { checkCharge, type LimitRequest, toRateLimitRequest } from './limit-request.ts'
import {
  defaultHeaderNames,
  type LimitResult,
  type LimitStatus,
  toHeaders,
} from './limit-result.ts'
import type { LimitOptions, RateLimiter } from './limiter-interface.ts'
import { createLimiterLog } from './limiter-log.ts'
import { toOptionsMessage, toUnknownOption } from './option-faults.ts'
import type { SharedOptions } from './options.ts'
import type { LimitUnit } from './rules/limits.ts'
import { describe, isRecord } from './rules/parse-limits.ts'
import { mostWarnings } from './rules/unmatched.ts'
import { type ServiceAnswer, ServiceClient, type ServiceStatus } from './service-client.ts'
import { createBreaker } from './store/breaker.ts'

/** The options of a limiter that uses a service. */
export interface RemoteLimiterOptions
  extends Pick<
    SharedOptions,
    'breaker' | 'headerNames' | 'log' | 'logger' | 'onOutage' | 'onRecovery' | 'timeoutMs'
  > {
  /** The URL of the service, such as `http://127.0.0.1:8080`. The path defaults to `/json`. */
  readonly url: string | URL
  /** The domain of requests that do not name one. Default: none. */
  readonly domain?: string | undefined
  /** Header fields of every request to the service, such as for a proxy in front of it. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Whether to log a descriptor that no rule of the service applies to, once for its keys. Default: true. */
  readonly warnsUnmatched?: boolean | undefined
}

/**
 * A limiter that uses a service, which has the rules. `block` is not available, because it needs access to the
 * counters.
 */
export type RemoteRateLimiter = AsyncDisposable &
  Pick<RateLimiter, 'limit' | 'peek' | 'refund' | 'penalty' | 'reward' | 'reset' | 'close'>

const optionNames: ReadonlySet<keyof RemoteLimiterOptions> = new Set([
  'url',
  'domain',
  'headers',
  'warnsUnmatched',
  'breaker',
  'headerNames',
  'log',
  'logger',
  'onOutage',
  'onRecovery',
  'timeoutMs',
])

/**
 * Creates a limiter that uses a running rate limit service, so that the rules of all your servers are in one
 * place.
 *
 * @example
 * ```ts
 * import { createRemoteRateLimiter } from '@portcullis/ratelimit/remote'
 *
 * const limiter = createRemoteRateLimiter({ url: 'http://ratelimit:8080', domain: 'api' })
 * const { isAllowed } = await limiter.limit({ descriptors: [{ user: 'alice' }] })
 * ```
 *
 * @throws TypeError when options are invalid
 */
export function createRemoteRateLimiter(options: RemoteLimiterOptions): RemoteRateLimiter {
  const url = checkOptions(options)
  const { timeoutMs: usualTimeoutMs = 1_000, domain = '', warnsUnmatched = true } = options
  const { headerNames = defaultHeaderNames } = options
  const log = createLimiterLog(options.logger, options.log)
  const breaker = createBreaker(options, log, {
    name: 'service',
    consequence: 'decisions fail until it answers',
  })
  const client = new ServiceClient(url, options.headers ?? {})
  const warned = new Set<string>()

  async function callService(
    request: LimitRequest,
    { timeoutMs = usualTimeoutMs, hits }: LimitOptions,
    change: (message: RateLimitRequest) => RateLimitRequest = (message) => message,
  ): Promise<{ message: RateLimitRequest; answer: ServiceAnswer }> {
    const message = change(toRateLimitRequest(request, domain, hits))
    const refusal = breaker.refuse()
    if (refusal !== undefined) throw refusal
    try {
      const answer = await client.call(message, timeoutMs)
      breaker.noteAnswer()
      if (warnsUnmatched) warnOfUnmatched(message, answer)
      return { message, answer }
    } catch (error) {
      if (error instanceof StoreError) breaker.noteFailure(error)
      throw error
    }
  }

  function warnOfUnmatched(message: RateLimitRequest, { statuses = [] }: ServiceAnswer): void {
    for (const [index, status] of statuses.entries()) {
      const keys = message.descriptors[index]?.entries.map(({ key }) => key) ?? []
      if (keys.length === 0 || isMatched(status) || warned.size >= mostWarnings) continue
      const shape = `{ ${keys.join(', ')} } in the domain '${message.domain}'`
      if (warned.has(shape)) continue
      warned.add(shape)
      log.warning(
        `The rate limit service has no limit for ${shape}; such requests are allowed without being counted`,
      )
    }
  }

  const count = async (request: LimitRequest, given: LimitOptions = {}) => {
    const { message, answer } = await callService(request, given)
    return toResult(message, answer, headerNames)
  }
  const refund = async (request: LimitRequest, given: LimitOptions = {}) => {
    const { hits = 1 } = given
    checkCharge(hits)
    const { message, answer } = await callService(request, given, (message) =>
      withHits(message, hits, true),
    )
    return toResult(message, answer, headerNames)
  }
  const close = async () => client.close()
  return {
    limit: count,
    async peek(request, given = {}) {
      const { hits = 1 } = given
      checkCharge(hits)
      const { message, answer } = await callService(request, given, (message) =>
        withHits(message, 0, false),
      )
      return toPeek(toResult(message, answer, headerNames), hits)
    },
    refund,
    penalty: count,
    reward: refund,
    async reset(request, given = {}) {
      await callService(request, given, (message) => withHits(message, highestCount, true))
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function withHits(
  message: RateLimitRequest,
  hitsAddend: number,
  isNegativeHits: boolean,
): RateLimitRequest {
  const { descriptors } = message
  return {
    ...message,
    descriptors: descriptors.map((each) => ({ ...each, hitsAddend, isNegativeHits })),
  }
}

/**
 * If no rule applies, the service reports neither a limit nor remaining hits. It reports the same for a rule without a
 * limit, which therefore counts as not matched.
 */
function isMatched({ currentLimit, limitRemaining }: ServiceStatus): boolean {
  return currentLimit !== undefined || limitRemaining === unlimitedRemaining
}

function toResult(
  { descriptors }: RateLimitRequest,
  { overallCode, statuses: answered = [] }: ServiceAnswer,
  headerNames: HeaderNames,
): LimitResult {
  const statuses = answered.map((status, index): LimitStatus => {
    const keys = descriptors[index]?.entries.map(({ key }) => key) ?? []
    return toStatus(status, keys)
  })
  const isAllowed = overallCode !== 'OVER_LIMIT'
  const over = statuses.filter(({ isOver }) => isOver)
  const limited = statuses.filter(({ limit }) => limit !== undefined)
  const [first] = limited
  const tightest =
    over.at(-1) ??
    (first && limited.reduce((least, each) => (each.remaining < least.remaining ? each : least)))
  return {
    isAllowed,
    isMatched: statuses.every((status) => status.isMatched),
    isFallback: false,
    statuses,
    headers: tightest === undefined ? [] : toHeaders(tightest, headerNames),
    retryAfterSeconds: isAllowed
      ? undefined
      : Math.max(1, ...over.map(({ resetSeconds }) => resetSeconds ?? 1)),
  }
}

function toStatus(status: ServiceStatus, keys: readonly string[]): LimitStatus {
  const { code, currentLimit, limitRemaining = 0, durationUntilReset } = status
  const unit = unitByName(currentLimit?.unit ?? '')
  return {
    isOver: code === 'OVER_LIMIT',
    isMatched: isMatched(status),
    keys,
    limit: currentLimit && {
      requestsPerUnit: currentLimit.requestsPerUnit ?? 0,
      unit: (unit?.name ?? 'SECOND').toLowerCase() as LimitUnit,
      windowSeconds: unit?.seconds ?? 1,
    },
    remaining: limitRemaining,
    resetSeconds:
      durationUntilReset === undefined ? undefined : Number.parseInt(durationUntilReset, 10),
  }
}

/** Nothing was counted, so the request would be allowed if every limit has room for its hits. */
function toPeek(result: LimitResult, hits: number): LimitResult {
  const full = result.statuses.filter(({ limit, remaining }) => limit && remaining < hits)
  if (full.length === 0) return result
  const waits = full.map(({ resetSeconds }) => resetSeconds ?? 1)
  return {
    ...result,
    isAllowed: false,
    statuses: result.statuses.map((each) =>
      full.includes(each) ? { ...each, isOver: true } : each,
    ),
    retryAfterSeconds: Math.max(1, ...waits),
  }
}

function checkOptions(options: RemoteLimiterOptions): URL {
  const faults: string[] = []
  if (!isRecord(options)) {
    throw new TypeError("createRemoteRateLimiter takes an object: { url: 'http://127.0.0.1:8080' }")
  }
  for (const name of Object.keys(options)) {
    if (optionNames.has(name as keyof RemoteLimiterOptions)) continue
    faults.push(toUnknownOption(name, optionNames))
  }
  const { url: given } = options
  const url = URL.canParse(String(given)) ? new URL(given) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    faults.push(`url must be an HTTP URL such as 'http://127.0.0.1:8080', not ${describe(given)}`)
  } else if (url.pathname === '/') {
    url.pathname = '/json'
  }
  const { timeoutMs } = options
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    faults.push(`timeoutMs must be a number of milliseconds above 0, not ${describe(timeoutMs)}`)
  }
  if (faults.length > 0 || url === undefined) {
    throw new TypeError(toOptionsMessage('createRemoteRateLimiter', faults))
  }
  return url
}
