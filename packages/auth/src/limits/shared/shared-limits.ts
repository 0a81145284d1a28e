import type { Log } from '@portcullis/service-kit/log'
import type { LimitTable, RequestLimit, RequestLimits } from '../request-limits.ts'
import type { LimitService } from './limit-service.ts'

export interface SharedLimitsSettings {
  readonly service: LimitService
  /** For the log, without credentials. */
  readonly serviceName: string
  /** How long a decision may take. */
  readonly timeoutMs: number
  readonly limits: LimitTable
  /** Counts while the service does not answer: nobody is refused because it is down. */
  readonly own: RequestLimits
  readonly log: Log
}

/** How often a service that does not answer is asked again, by one request: others do not wait. */
const askAgainMs = 1_000
/** A service that refuses says so at once; one that is silent is not waited for at length. */
const startTimeoutMs = 5_000

/** Request limits that several processes share. */
export async function openSharedLimits(
  settings: SharedLimitsSettings,
): Promise<RequestLimits & AsyncDisposable> {
  const { service, serviceName, timeoutMs, limits, own, log } = settings
  let isClosed = false
  let isDown = false
  let askAgainAtMs = 0
  let changedAtMs = Number.NEGATIVE_INFINITY

  // Of questions that were on their way at a change, the answers tell nothing about the time after.
  const change = (askedAtMs: number, toDown: boolean, say: () => void) => {
    if (isDown === toDown || askedAtMs < changedAtMs) return
    isDown = toDown
    changedAtMs = performance.now()
    askAgainAtMs = changedAtMs + askAgainMs
    say()
  }
  const onAnswer = (askedAtMs: number) =>
    change(askedAtMs, false, () =>
      log.warning(`The rate limit service ${serviceName} answers again: processes count together`),
    )
  const onFailure = (askedAtMs: number, error: unknown) => {
    if (isClosed) return
    if (error === late && askedAtMs >= changedAtMs) service.drop()
    change(askedAtMs, true, () =>
      log.warning(
        `The rate limit service ${serviceName} does not answer: ${toReason(error)}; until it ` +
          'does, this process counts requests by itself',
      ),
    )
  }

  const startedAtMs = performance.now()
  try {
    await within(startTimeoutMs, service.connect())
  } catch (error) {
    onFailure(startedAtMs, error === late ? new Error('no connection so far') : error)
  }
  /** Asks the service where there is a limit, and this process where the service does not answer. */
  const ask = async <Result>(
    limit: RequestLimit | undefined,
    askService: (limit: RequestLimit) => Promise<Result>,
    askOwn: () => Promise<Result> | Result,
  ): Promise<Result> => {
    const askedAtMs = performance.now()
    if (limit === undefined || (isDown && askedAtMs < askAgainAtMs)) return askOwn()
    if (isDown) askAgainAtMs = askedAtMs + askAgainMs
    try {
      const result = await within(timeoutMs, askService(limit))
      onAnswer(askedAtMs)
      return result
    } catch (error) {
      onFailure(askedAtMs, error)
      return askOwn()
    }
  }
  return {
    take: (limiter, key) =>
      ask(
        limits[limiter],
        (limit) => service.take(limiter, key, limit),
        () => own.take(limiter, key),
      ),
    peek: (limiter, key) =>
      ask(
        limits[limiter],
        (limit) => service.peek(limiter, key, limit),
        () => own.peek(limiter, key),
      ),
    async clear(limiter, key) {
      // It may have counted while the service was away.
      await own.clear(limiter, key)
      await ask(
        limits[limiter],
        () => service.clear(limiter, key),
        () => {},
      )
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      await service[Symbol.asyncDispose]()
    },
  }
}

const late = new Error('no answer in time')

async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  // One turn more: where this process was busy itself, the answer may be there, unread.
  const timer = setTimeout(() => setImmediate(() => reject(late)), timeoutMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
