import { ApiError } from '../../errors.ts'
import type { Claims, TokenSigner } from '../../tokens/json-web-token.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import { isBelowLevel } from './assurance-level.ts'
import type { Amr } from './statements/sessions.ts'

export interface AccessTokenSettings {
  readonly expiresInSeconds: number
  readonly issuer: string | undefined
  /** From `SessionLimits`: an access token expires no later than its session. */
  readonly timeboxMs?: number | undefined
  readonly inactivityMs?: number | undefined
  readonly lowAalMs?: number | undefined
}

export interface SignedIn {
  readonly user: UserRow
  readonly sessionId: string
  readonly sessionCreatedAt: string
  /** Null: the session was not refreshed yet. Default: null. */
  readonly sessionRefreshedAt?: string | null
  /** When the provider ends the session. Default: null. */
  readonly sessionNotAfter?: string | null
  readonly aal: string
  readonly amr: readonly Amr[]
}

interface AccessToken {
  readonly text: string
  readonly expiresInSeconds: number
  readonly expiresAtSeconds: number
}

/** The claims of an access token. */
export function toAccessClaims(
  settings: AccessTokenSettings,
  signedIn: SignedIn,
  nowMs: number,
): Claims {
  const { issuer, expiresInSeconds } = settings
  const { user, sessionId, aal, amr } = signedIn
  const issuedAt = Math.floor(nowMs / 1_000)
  return {
    ...(issuer !== undefined && { iss: issuer }),
    sub: user.id,
    aud: user.aud,
    exp: capExpiry(issuedAt + expiresInSeconds, toSessionEnd(settings, signedIn), issuedAt),
    iat: issuedAt,
    email: user.email ?? '',
    phone: user.phone ?? '',
    app_metadata: user.raw_app_meta_data,
    user_metadata: user.raw_user_meta_data,
    role: user.role,
    aal,
    amr: amr.toSorted((a, b) => b.timestamp - a.timestamp),
    session_id: sessionId,
    is_anonymous: user.is_anonymous,
  }
}

/**
 * When a session ends by its limits if it is not used again, in seconds. Programs that verify tokens themselves
 * refuse its tokens from then on, because none of them expires later.
 */
export function toSessionEnd(
  {
    timeboxMs = Number.POSITIVE_INFINITY,
    inactivityMs = Number.POSITIVE_INFINITY,
    lowAalMs = Number.POSITIVE_INFINITY,
  }: AccessTokenSettings,
  signedIn: SignedIn,
): number {
  const { user, aal, sessionCreatedAt, sessionRefreshedAt, sessionNotAfter } = signedIn
  const createdMs = Date.parse(sessionCreatedAt)
  const needsFactor = isBelowLevel({ factors: user.factors, aal })
  const endMs = Math.min(
    createdMs + timeboxMs,
    Date.parse(sessionRefreshedAt ?? sessionCreatedAt) + inactivityMs,
    needsFactor ? createdMs + lowAalMs : Number.POSITIVE_INFINITY,
    typeof sessionNotAfter === 'string' ? Date.parse(sessionNotAfter) : Number.POSITIVE_INFINITY,
  )
  return Math.floor(endMs / 1_000)
}

/** The earlier one of two times, but later than `issuedAt`. */
export function capExpiry(exp: number, sessionEnd: number, issuedAt: number): number {
  return Math.max(issuedAt + 1, Math.min(exp, sessionEnd))
}

/** The expiry comes from the claims, which a hook may have changed. */
export function createAccessToken(signer: TokenSigner, claims: Claims): AccessToken {
  const { iat, exp } = claims
  if (typeof iat !== 'number' || typeof exp !== 'number')
    throw new TypeError('Claims must contain iat and exp')
  return { text: signer.sign(claims), expiresInSeconds: exp - iat, expiresAtSeconds: exp }
}

/** Room for the longest header and signature, with a 4,096-bit RSA key. */
const aroundClaimsBytes = 1_024

export interface TokenSize {
  readonly mostBytes: number
  /** Called with the ID of a user whose metadata was left out. */
  readonly onOmitted: (userId: string) => void
}

/**
 * Shortens claims so that the token fits into a request header. A user whose token is refused for
 * its length could not even fix the cause. user_metadata is left out then: users write it
 * themselves, so nothing may depend on it. What administrators and hooks write may be used for
 * authorization, so it is never left out.
 * @throws {ApiError} when the other claims are too long as well.
 */
export function fitClaims(
  { mostBytes, onOmitted }: TokenSize,
  claims: Claims,
  isHooked: boolean,
): Claims {
  const fits = (candidate: Claims) =>
    Buffer.byteLength(JSON.stringify(candidate)) <= ((mostBytes - aroundClaimsBytes) * 3) / 4
  if (fits(claims)) return claims
  const without = { ...claims, user_metadata: {} }
  if (fits(without)) {
    onOmitted(String(claims['sub']))
    return without
  }
  const limit = `more than the limit of ${mostBytes} bytes for an access token`
  throw isHooked
    ? new ApiError('hook_payload_over_size_limit', `The claims from the hook require ${limit}`)
    : new ApiError('unexpected_failure', `The app_metadata of the user requires ${limit}`)
}
