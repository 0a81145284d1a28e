import type { Log } from '@portcullis/service-kit/log/log'
import { toReason } from '@portcullis/service-kit/text/reason'
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

/** The interval at which one request tries an unavailable service again; others do not wait. */
const retryMs = 1_000
/** Limits the wait at start for a service that does not respond. */
const startTimeoutMs = 5_000

/** Request limits that several processes share. */
export async function openSharedLimits(
  settings: SharedLimitsSettings,
): Promise<RequestLimits & AsyncDisposable> {
  const { service, serviceName, timeoutMs, limits, own, log } = settings
  let isClosed = false
  let isDown = false
  let retryAtMs = 0
  let changedAtMs = Number.NEGATIVE_INFINITY

  // The result of a call that began before the last change of state is ignored: it says nothing
  // about the new state.
  const change = (calledAtMs: number, toDown: boolean, logChange: () => void) => {
    if (isDown === toDown || calledAtMs < changedAtMs) return
    isDown = toDown
    changedAtMs = performance.now()
    retryAtMs = changedAtMs + retryMs
    logChange()
  }
  const onResponse = (calledAtMs: number) =>
    change(calledAtMs, false, () =>
      log.warning(
        `The rate limit service ${serviceName} responds again; counts are shared between processes`,
      ),
    )
  const onFailure = (calledAtMs: number, error: unknown) => {
    if (isClosed) return
    if (error === late && calledAtMs >= changedAtMs) service.drop()
    change(calledAtMs, true, () =>
      log.warning(
        `The rate limit service ${serviceName} cannot be used: ${toReason(error)}; until it ` +
          'responds again, this process counts requests by itself',
      ),
    )
  }

  const startedAtMs = performance.now()
  try {
    await within(startTimeoutMs, service.connect())
  } catch (error) {
    onFailure(startedAtMs, error === late ? new Error('not connected yet') : error)
  }
  /** Calls the service if there is a limit, and counts in this process if the call fails. */
  const call = async <Result>(
    limit: RequestLimit | undefined,
    callService: (limit: RequestLimit) => Promise<Result>,
    countHere: () => Promise<Result> | Result,
  ): Promise<Result> => {
    const calledAtMs = performance.now()
    if (limit === undefined || (isDown && calledAtMs < retryAtMs)) return countHere()
    if (isDown) retryAtMs = calledAtMs + retryMs
    try {
      const result = await within(timeoutMs, callService(limit))
      onResponse(calledAtMs)
      return result
    } catch (error) {
      onFailure(calledAtMs, error)
      return countHere()
    }
  }
  return {
    take: (limiter, key) =>
      call(
        limits[limiter],
        (limit) => service.take(limiter, key, limit),
        () => own.take(limiter, key),
      ),
    peek: (limiter, key) =>
      call(
        limits[limiter],
        (limit) => service.peek(limiter, key, limit),
        () => own.peek(limiter, key),
      ),
    async clear(limiter, key) {
      // This process may have counted while the service was unavailable.
      await own.clear(limiter, key)
      await call(
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
  // If this process was busy, the response may have arrived without being read. It is read in the
  // turn of the event loop before `setImmediate`.
  const timer = setTimeout(() => setImmediate(() => reject(late)), timeoutMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
