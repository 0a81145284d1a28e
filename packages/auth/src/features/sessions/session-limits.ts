import type { SessionLimitValues } from './statements/session-limits.ts'

/** Reference 6.7; all of them are off unless an operator wants them. */
export interface SessionLimits {
  /** Undefined: no end. */
  readonly timeboxMs: number | undefined
  readonly inactivityMs: number | undefined
  /** How long somebody who has a second factor may go without showing it; undefined: for ever. */
  readonly lowAalMs: number | undefined
  readonly singlePerUser: boolean
  /** Where a user has one session only: one for each of these. */
  readonly tags: readonly string[]
}

/** The limits as statements take them. */
export function toLimitValues(limits: SessionLimits, nowMs: number): SessionLimitValues {
  const { timeboxMs = nowMs, inactivityMs = nowMs, lowAalMs = nowMs, singlePerUser, tags } = limits
  return {
    now: new Date(nowMs),
    earliestCreation: new Date(nowMs - timeboxMs),
    earliestRefresh: new Date(nowMs - inactivityMs),
    earliestLowAalCreation: new Date(nowMs - lowAalMs),
    isSinglePerUser: singlePerUser,
    tags,
  }
}
