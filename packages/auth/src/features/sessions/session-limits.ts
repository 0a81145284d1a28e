import type { SessionLimits } from '../../config/tokens.ts'
import type { SessionLimitValues } from './statements/session-limits.ts'

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
