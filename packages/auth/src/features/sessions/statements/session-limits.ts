import type { SessionLimits } from '../../../config/tokens.ts'

/** What ends sessions (reference 6.7). */
interface SessionLimitValues {
  readonly now: Date
  readonly earliestCreation: Date
  readonly earliestRefresh: Date
  /** Of a session whose owner has a second factor and has not shown it. */
  readonly earliestLowAalCreation: Date
  readonly isSinglePerUser: boolean
  /** Where a user has one session only: one for each of these. */
  readonly tags: readonly string[]
}

/** The parameters of a statement that the functions below read, in this order. */
export const limitParameters = [
  'now',
  'earliestCreation',
  'earliestRefresh',
  'earliestLowAalCreation',
  'isSinglePerUser',
  'tags',
] as const satisfies readonly (keyof SessionLimitValues)[]

const last = (session: string) => `coalesce(${session}.refreshed_at, ${session}.created_at)`

/** Whether a session is within its own limits. @param first the number of the first of `limitParameters` */
export function isWithinLimits(session: string, first: number): string {
  const s = session
  return `(${s}.not_after is null or ${s}.not_after >= $${first})
       and ${s}.created_at >= $${first + 1} and ${last(s)} >= $${first + 2}
       and (${s}.created_at >= $${first + 3} or ${s}.aal = 'aal2' or not exists (
         select from {ns}.mfa_factors f where f.user_id = ${s}.user_id and f.status = 'verified'))`
}

/** Whether the user has another session in its place, of the same tag and used later. */
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

/** A session without a tag that counts has the first of those that do. */
function tagOf(session: string, first: number): string {
  const tags = `$${first + 5}::text[]`
  return `case when ${session}.tag = any(${tags}) then ${session}.tag else (${tags})[1] end`
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
