import type { RequestLimit } from '../request-limits.ts'

/** A limit as a service that counts in windows of fixed units can be told. */
export interface LimitWindow {
  readonly requests: number
  /** The number in `envoy.type.v3.RateLimitUnit`. */
  readonly unit: number
  /** Which part of the unit it is now; undefined where the window is the whole unit. */
  readonly part: number | undefined
  /** Until the window ends. */
  readonly secondsLeft: number
}

const units = [
  { wire: 1, seconds: 1 },
  { wire: 2, seconds: 60 },
  { wire: 3, seconds: 3_600 },
  { wire: 4, seconds: 86_400 },
] as const
const day = units[3]

/** The protocol has 32 bits for them. */
const mostRequests = 2 ** 32 - 1

/**
 * A window as long as the bucket takes to fill, with room for what the bucket holds: 30 in 5
 * minutes, or 30 a minute for 150 in 5 minutes with a burst of 30. In any such time at most twice
 * as many pass, as with the bucket.
 *
 * The protocol knows units and no lengths. So a window of 5 minutes is one part of an hour, and the
 * descriptor says which: each part has a counter of its own.
 */
export function toLimitWindow(limit: RequestLimit, nowMs: number): LimitWindow {
  const { most, periodMs, burst } = limit
  const fillSeconds = Math.ceil((burst * periodMs) / most / 1_000)
  const seconds = Math.min(Math.max(fillSeconds, 1), day.seconds)
  const unit = units.find((each) => each.seconds >= seconds) ?? day
  const nowInUnit = Math.floor(nowMs / 1_000) % unit.seconds
  const part = Math.floor(nowInUnit / seconds)
  return {
    requests: Math.min(mostRequests, Math.max(1, Math.floor((most * seconds * 1_000) / periodMs))),
    unit: unit.wire,
    part: seconds === unit.seconds ? undefined : part,
    secondsLeft: Math.min((part + 1) * seconds, unit.seconds) - nowInUnit,
  }
}
