import type { SessionLimits } from '../../../config/tokens.ts'

/** The limits after which sessions end. */
interface SessionLimitValues {
  readonly now: Date
  readonly earliestCreation: Date
  readonly earliestRefresh: Date
  /** For a session whose user has a second factor but has not verified it. */
  readonly earliestLowAalCreation: Date
  readonly isSinglePerUser: boolean
  /** With `isSinglePerUser`, a user may have one session per tag. */
  readonly tags: readonly string[]
}

/** The parameters that the functions below read from a statement, in this order. */
export const limitParameters = [
  'now',
  'earliestCreation',
  'earliestRefresh',
  'earliestLowAalCreation',
  'isSinglePerUser',
  'tags',
] as const satisfies readonly (keyof SessionLimitValues)[]

const last = (session: string) => `coalesce(${session}.refreshed_at, ${session}.created_at)`

/**
 * Whether a session is within its own limits.
 * @param first the number of the first of `limitParameters`.
 */
export function isWithinLimits(session: string, first: number): string {
  const s = session
  return `(${s}.not_after is null or ${s}.not_after >= $${first})
       and ${s}.created_at >= $${first + 1} and ${last(s)} >= $${first + 2}
       and (${s}.created_at >= $${first + 3} or ${s}.aal = 'aal2' or not exists (
         select from {ns}.mfa_factors f where f.user_id = ${s}.user_id and f.status = 'verified'))`
}

/** Whether the user has a more recently used session with the same tag that replaces this one. */
export function hasNewer(session: string, first: number): string {
  const s = session
  return `($${first + 4} and exists (
         select from {ns}.sessions newer
         where newer.user_id = ${s}.user_id and newer.id <> ${s}.id and newer.revoked_at is null
           and ${last('newer')} > ${last(s)}
           and ${tagOf('newer', first)} is not distinct from ${tagOf(s, first)}
           and ${isWithinLimits('newer', first)}
       ))`
}

/** A session without a known tag counts as one with the first tag. */
function tagOf(session: string, first: number): string {
  const tags = `$${first + 5}::text[]`
  return `case when ${session}.tag = any(${tags}) then ${session}.tag else (${tags})[1] end`
}

/** The limits as parameters of statements. */
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
