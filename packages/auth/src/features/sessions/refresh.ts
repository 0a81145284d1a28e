import type { SessionLimits } from '../../config/tokens.ts'
import { ApiError } from '../../errors.ts'
import { isBelowLevel } from '../factors/assurance-level.ts'
import type { RefreshRow } from './statements/sessions.ts'

export interface RefreshSettings extends SessionLimits {
  readonly reuseIntervalMs: number
  /** Whether the reuse of an old token ends the session. */
  readonly rotates: boolean
  /**
   * Whether a token is accepted at any age as long as the one that replaced it has not been used for
   * a refresh.
   */
  readonly parentGrace: boolean
  /** Whether every earlier token is accepted, except those from before a second factor. */
  readonly allowsReuse?: boolean
}

const prefix = 'Invalid Refresh Token: '

export function unknownToken(): ApiError {
  return new ApiError('refresh_token_not_found', `${prefix}Refresh Token Not Found`)
}

export function noSession(): ApiError {
  return new ApiError('session_not_found', `${prefix}No Valid Session Found`, { status: 400 })
}

/** Why a session is refused, whichever token is presented; undefined when it is valid. */
export function findFlaw(
  row: RefreshRow,
  settings: RefreshSettings,
  nowMs: number,
): ApiError | undefined {
  const { timeboxMs, inactivityMs, lowAalMs } = settings
  const isReplaced = row.revoked_at !== null && row.has_newer
  if (isReplaced) return expired(' (Revoked by Newer Login)')
  if (row.revoked_at !== null || row.deleted_at !== null) return noSession()
  if (row.banned_until !== null && Date.parse(row.banned_until) > nowMs) {
    return new ApiError('user_banned', `${prefix}User Banned`, { status: 400 })
  }
  const createdMs = Date.parse(row.session_created_at)
  const refreshedMs = Date.parse(row.refreshed_at ?? row.session_created_at)
  const isOver = row.not_after !== null && nowMs > Date.parse(row.not_after)
  if (isOver || (timeboxMs !== undefined && nowMs > createdMs + timeboxMs)) return expired('')
  if (inactivityMs !== undefined && nowMs > refreshedMs + inactivityMs) {
    return expired(' (Inactivity)')
  }
  if (lowAalMs !== undefined && isBelowLevel(row) && nowMs > createdMs + lowAalMs) {
    return expired(' (Low AAL: User Needs MFA Verification)')
  }
  if (row.has_newer) return expired(' (Revoked by Newer Login)')
  return undefined
}

function expired(why: string): ApiError {
  return new ApiError('session_expired', `${prefix}Session Expired${why}`, { status: 400 })
}

/**
 * Retries after a lost response, and other tabs, send the previous token. As long as the current
 * token is not known to have been delivered, refusing the previous one would end the session: the
 * database may have stalled for minutes between the rotation and its commit, or the process may
 * have died.
 */
export function isRetry(
  row: RefreshRow,
  counter: number,
  { reuseIntervalMs, parentGrace, allowsReuse }: RefreshSettings,
  nowMs: number,
): boolean {
  const { refresh_token_counter: present, delivered_counter: delivered, delivered_at: at } = row
  // The current token would give aal2 to anyone who has a token of aal1.
  if (allowsReuse) return row.raised_from === null || counter > row.raised_from
  if (present - counter !== 1) return false
  if (parentGrace || delivered !== present || at === null) return true
  return nowMs <= Date.parse(at) + reuseIntervalMs
}

/**
 * Returns the session as it was before a second factor raised it, if the token is the one before the
 * raise, or the one before that, and the token of the raise has not been used: the client has lost
 * the response of the verification. It continues at aal1 with the token that it had then, because
 * the token of the raise would give aal2 to anyone who has a token of aal1.
 */
export function findBeforeRaise(
  row: RefreshRow,
  counter: number,
  { parentGrace }: RefreshSettings,
): RefreshRow | undefined {
  const { raised_from: from, refresh_token_counter: present } = row
  if (!parentGrace || from === null || present !== from + 2) return undefined
  if (counter !== from && counter !== from - 1) return undefined
  const amr = row.amr.filter(({ method }) => !isSecondFactor(method))
  return { ...row, aal: 'aal1', amr, refresh_token_counter: from }
}

/** Whether a method in the `amr` is a second factor. */
export function isSecondFactor(method: string): boolean {
  return method === 'totp' || method.startsWith('mfa/')
}

export function notIssued(): ApiError {
  return new ApiError('validation_failed', `${prefix}Not Issued By This Server`)
}

export function alreadyUsed(): ApiError {
  return new ApiError('refresh_token_already_used', `${prefix}Already Used`)
}
