import type { Log } from '@portcullis/service-kit/log'
import type { LimitTable, RequestLimit, RequestLimits } from '../request-limits.ts'
import type { LimitService } from './limit-service.ts'

export interface SharedLimitsSettings {
  readonly service: LimitService
  /** The name for the log, without credentials. */
  readonly serviceName: string
  /** The time limit of a decision. */
  readonly timeoutMs: number
  readonly limits: LimitTable
  /** Counts while the service is unavailable, so that requests are not rejected for that reason. */
  readonly own: RequestLimits
  readonly log: Log
}

/** How often an unavailable service is tried again by one request; other requests do not wait. */
const askAgainMs = 1_000
/**
 * A service that refuses connections fails at once; this limits the wait for one that does not
 * respond.
 */
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

  // Responses to calls that were in progress at a change of state say nothing about the new state.
  const change = (askedAtMs: number, toDown: boolean, say: () => void) => {
    if (isDown === toDown || askedAtMs < changedAtMs) return
    isDown = toDown
    changedAtMs = performance.now()
    askAgainAtMs = changedAtMs + askAgainMs
    say()
  }
  const onAnswer = (askedAtMs: number) =>
    change(askedAtMs, false, () =>
      log.warning(
        `The rate limit service ${serviceName} responds again; counts are shared between processes`,
      ),
    )
  const onFailure = (askedAtMs: number, error: unknown) => {
    if (isClosed) return
    if (error === late && askedAtMs >= changedAtMs) service.drop()
    change(askedAtMs, true, () =>
      log.warning(
        `The rate limit service ${serviceName} does not respond: ${toReason(error)}; until it ` +
          'does, this process counts requests by itself',
      ),
    )
  }

  const startedAtMs = performance.now()
  try {
    await within(startTimeoutMs, service.connect())
  } catch (error) {
    onFailure(startedAtMs, error === late ? new Error('not connected yet') : error)
  }
  /**
   * Calls the service if there is a limit, and falls back to this process if the service does not
   * respond.
   */
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
      // This process may have counted while the service was unavailable.
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

const late = new Error('no response in time')

async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>()
  // Waits for another turn of the event loop: if this process was busy, the response may have
  // arrived unread.
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
