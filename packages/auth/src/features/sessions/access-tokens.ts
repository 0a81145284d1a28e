import { ApiError } from '../../errors.ts'
import type { Claims, TokenSigner } from '../../tokens/json-web-token.ts'
import { isBelowLevel } from '../factors/assurance-level.ts'
import type { UserRow } from '../users/statements/user-row.ts'
import type { Amr } from './statements/sessions.ts'

export interface AccessTokenSettings {
  readonly expiresInSeconds: number
  readonly issuer: string | undefined
  /** Of SessionLimits: tokens end with what they are of. */
  readonly lowAalMs?: number | undefined
}

export interface SignedIn {
  readonly user: UserRow
  readonly sessionId: string
  readonly sessionCreatedAt: string
  readonly aal: string
  readonly amr: readonly Amr[]
}

interface AccessToken {
  readonly text: string
  readonly expiresInSeconds: number
  readonly expiresAtSeconds: number
}

/** Reference 5.5. */
export function toAccessClaims(
  settings: AccessTokenSettings,
  signedIn: SignedIn,
  nowMs: number,
): Claims {
  const { issuer } = settings
  const { user, sessionId, aal, amr } = signedIn
  const issuedAt = Math.floor(nowMs / 1_000)
  return {
    ...(issuer !== undefined && { iss: issuer }),
    sub: user.id,
    aud: user.aud,
    exp: toExpiry(settings, signedIn, issuedAt),
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

/** Earlier than others where a second factor is still to be shown (reference 6.7). */
function toExpiry(
  { expiresInSeconds, lowAalMs }: AccessTokenSettings,
  { user, aal, sessionCreatedAt }: SignedIn,
  issuedAt: number,
): number {
  const usual = issuedAt + expiresInSeconds
  if (lowAalMs === undefined || !isBelowLevel({ factors: user.factors, aal })) return usual
  const end = Math.floor((Date.parse(sessionCreatedAt) + lowAalMs) / 1_000)
  return Math.max(issuedAt + 1, Math.min(usual, end))
}

/** Whoever has set the times of the claims. */
export function createAccessToken(signer: TokenSigner, claims: Claims): AccessToken {
  const { iat, exp } = claims
  if (typeof iat !== 'number' || typeof exp !== 'number') throw new TypeError('Claims need times')
  return { text: signer.sign(claims), expiresInSeconds: exp - iat, expiresAtSeconds: exp }
}

/** The longest header and signature there are, of a key of RSA with 4,096 bits. */
const aroundClaimsBytes = 1_024

export interface TokenSize {
  readonly mostBytes: number
  /** Called with the user whose metadata have been left out. */
  readonly onOmitted: (userId: string) => void
}

/**
 * Claims that fit into a request header. Whoever has a token that servers refuse for its length could
 * not even repair what makes it so long. user_metadata are left out then: users write them themselves,
 * so nothing may depend on them. What administrators and hooks write may decide what somebody is
 * allowed to do, and is never left out.
 * @throws {ApiError} where the rest is too long as well.
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
  const limit = `more than the ${mostBytes} bytes that an access token may have`
  throw isHooked
    ? new ApiError('hook_payload_over_size_limit', `The claims of the hook need ${limit}`)
    : new ApiError('unexpected_failure', `The app_metadata of the user need ${limit}`)
}
