import type { SessionLimits } from '../../../config/tokens.ts'

/** The limits after which sessions end. */
interface SessionLimitValues {
  readonly now: Date
  readonly earliestCreation: Date
  readonly earliestRefresh: Date
  /** For a session whose user has a second factor but has not verified it. */
  readonly earliestLowAalCreation: Date
  readonly isSinglePerUser: boolean
  /** Separated by commas. With `isSinglePerUser`, a user may have one session per tag. */
  readonly tags: string
}

/** The names of the parameters of a statement, in the order of `limitsFrom`. */
export const limitParameters = [
  'now',
  'earliestCreation',
  'earliestRefresh',
  'earliestLowAalCreation',
  'isSinglePerUser',
  'tags',
] as const satisfies readonly (keyof SessionLimitValues)[]

/** How a statement refers to the limits. */
export type LimitReferences = Readonly<Record<keyof SessionLimitValues, string>>

/** @param first the number of the first of `limitParameters`. */
export function limitsFrom(first: number): LimitReferences {
  const entries = limitParameters.map((name, index) => [name, `$${first + index}`])
  return Object.fromEntries(entries) as LimitReferences
}

const last = (session: string) => `coalesce(${session}.refreshed_at, ${session}.created_at)`

/** Whether a session is within its own limits. */
export function isWithinLimits(session: string, limits: LimitReferences): string {
  const s = session
  const { now, earliestCreation, earliestRefresh, earliestLowAalCreation } = limits
  return `(${s}.not_after is null or ${s}.not_after >= ${now})
       and ${s}.created_at >= ${earliestCreation} and ${last(s)} >= ${earliestRefresh}
       and (${s}.created_at >= ${earliestLowAalCreation} or ${s}.aal = 'aal2' or not exists (
         select from {ns}.mfa_factors f where f.user_id = ${s}.user_id and f.status = 'verified'))`
}

/**
 * Whether the user has a more recently used session with the same tag that replaces this one.
 * Sessions of OAuth clients neither replace others nor are replaced.
 * @param except the ID of a session that does not count.
 */
export function hasNewer(session: string, limits: LimitReferences, except?: string): string {
  const s = session
  const others = except === undefined ? '' : ` and newer.id <> ${except}`
  return `(${limits.isSinglePerUser} and ${s}.oauth_client_id is null and exists (
         select from {ns}.sessions newer
         where newer.user_id = ${s}.user_id and newer.id <> ${s}.id${others} and newer.revoked_at is null
           and newer.oauth_client_id is null
           and ${last('newer')} > ${last(s)}
           and ${tagOf('newer', limits)} is not distinct from ${tagOf(s, limits)}
           and ${isWithinLimits('newer', limits)}
       ))`
}

/** A session without a known tag counts as one with the first tag. */
function tagOf(session: string, limits: LimitReferences): string {
  const tags = `string_to_array(${limits.tags}, ',')`
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
    tags: tags.join(','),
  }
}
