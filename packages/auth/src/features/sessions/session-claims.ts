import type { Hooks } from '../../plugins/hooks/index.ts'
import { restrictClaims, withholdClaims } from '../../tokens/client-grants.ts'
import type { Claims } from '../../tokens/json-web-token.ts'
import {
  type AccessTokenSettings,
  capExpiry,
  fitClaims,
  type TokenSize,
  toAccessClaims,
  toSessionEnd,
} from './access-tokens.ts'
import type { Amr, SessionRow } from './statements/sessions.ts'

export interface ClaimsParts {
  readonly settings: AccessTokenSettings & {
    /** The tokens of OAuth clients always have an issuer. */
    readonly clientIssuer: string
  }
  /** A hook that changes the claims of access tokens. */
  readonly customize: Hooks['customAccessToken']
  readonly tokenSize: TokenSize
}

/** @param method how the user signed in. Default: the newest method of the session. */
export type WriteClaims = (
  row: SessionRow,
  client: { readonly ip: string },
  nowMs: number,
  method?: string,
) => Promise<Claims>

/** Returns the function that writes the claims of access tokens, with the hook if there is one. */
export function createClaimsWriter({ settings, customize, tokenSize }: ClaimsParts): WriteClaims {
  return async (row, client, nowMs, method) => {
    const { session_id: sessionId, session_created_at: sessionCreatedAt, aal, amr } = row
    const { refreshed_at: sessionRefreshedAt, not_after: sessionNotAfter } = row
    const session = { sessionId, sessionCreatedAt, sessionRefreshedAt, sessionNotAfter }
    const signedIn = { user: row, ...session, aal, amr }
    const whole = toAccessClaims(settings, signedIn, nowMs)
    const { oauth_grant: grant } = row
    const claims = grant === null ? whole : withholdClaims(whole, grant)
    const restrict = (all: Claims) =>
      grant === null ? all : restrictClaims(all, grant, settings.clientIssuer)
    if (customize === undefined) return fitClaims(tokenSize, restrict(claims), false)
    const newest = amr.reduce((last, one) => (one.timestamp >= last.timestamp ? one : last), none)
    const input = { user_id: row.id, claims, authentication_method: method ?? newest.method }
    const customized = await customize(input, { ip: client.ip })
    return fitClaims(
      tokenSize,
      restrict(capClaims(customized, toSessionEnd(settings, signedIn))),
      true,
    )
  }
}

/** A hook may extend the lifetime of a token, but not beyond its session. */
function capClaims(claims: Claims, sessionEnd: number): Claims {
  const { exp, iat } = claims
  if (typeof exp !== 'number' || typeof iat !== 'number') return claims
  return { ...claims, exp: capExpiry(exp, sessionEnd, iat) }
}

const none: Amr = { method: '', timestamp: 0 }
