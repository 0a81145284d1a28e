import { findBoundKey } from '../../dpop/proof.ts'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { ClientGrant } from '../../tokens/client-grants.ts'
import { type Claims, TokenError, type TokenSigner } from '../../tokens/json-web-token.ts'
import { acceptProof, type ProvableRequest, toChallenge } from './proofs.ts'
import { toLimitValues } from './statements/session-limits.ts'
import { type CallerRow, findActiveSession, findCaller } from './statements/sessions.ts'

export const uuidPattern = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i

/** Reads the claims of the bearer token in the header. @throws {ApiError} */
export function readBearer(
  authorization: string | undefined,
  signer: TokenSigner,
  nowMs: number,
): Claims {
  const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1]
  if (token === undefined) {
    throw new ApiError('no_authorization', 'This endpoint requires a valid Bearer token')
  }
  const claims = readToken(token, signer, nowMs)
  if (findBoundKey(claims) === undefined) return claims
  throw toChallenge(
    badToken('The token is bound to a key: send it as DPoP, with a proof of the key'),
  )
}

/**
 * Reads the claims of the access token in the header. A token that is bound to a key needs a proof of that
 * key (RFC 9449, section 7). @throws {ApiError}
 */
export async function readAuthorization(
  authorization: string | undefined,
  request: ProvableRequest,
  services: Pick<Services, 'signer' | 'db' | 'now' | 'config' | 'proofNonces'>,
): Promise<Claims> {
  const { signer, now } = services
  const accessToken = /^DPoP (\S+)$/i.exec(authorization ?? '')?.[1]
  if (accessToken === undefined) return readBearer(authorization, signer, now())
  try {
    const claims = readToken(accessToken, signer, now())
    const boundKey = findBoundKey(claims)
    if (boundKey === undefined) throw badToken('The token is not bound to a key: send it as Bearer')
    await acceptProof(services, { ...request, accessToken }, boundKey)
    return claims
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    throw toChallenge(error)
  }
}

/** The `token_use` of an access token that an API got in exchange for another one, to call another API. */
export const delegatedUse = 'delegated'

/** Values of `token_use` in tokens that are not access tokens. */
const otherUses: ReadonlySet<unknown> = new Set(['id', 'browser'])

/**
 * Reads the claims of an access token. ID tokens, the cookies of the built-in pages and delegated tokens
 * are signed with the same key, and name their use. @throws {ApiError}
 */
export function readToken(token: string, signer: TokenSigner, nowMs: number): Claims {
  const claims = readAccessToken(token, signer, nowMs)
  if (claims['token_use'] !== delegatedUse) return claims
  throw badToken('invalid JWT: the token is for another server')
}

/** Reads the claims of an access token, which may be a delegated one. @throws {ApiError} */
export function readAccessToken(token: string, signer: TokenSigner, nowMs: number): Claims {
  try {
    const claims = signer.verify(token, Math.floor(nowMs / 1_000))
    if (!otherUses.has(claims['token_use'])) return claims
    throw new TokenError('token has invalid claims: token is not an access token')
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    throw badToken(`invalid JWT: unable to parse or verify signature, ${error.message}`)
  }
}

export function badToken(message: string, status = 403): ApiError {
  return new ApiError('bad_jwt', message, { status })
}

/** Undefined when the claims contain no session. @throws {ApiError} */
export function readSessionId({ session_id: id }: Claims): string | undefined {
  if (id === undefined || id === '') return undefined
  if (typeof id === 'string' && uuidPattern.test(id)) return id
  throw badToken('invalid claim: session_id claim must be a UUID')
}

/** Which access tokens are accepted. */
export interface Acceptance {
  /** Whether the session may have been revoked. Default: false. */
  readonly ended?: boolean
  /** Whether the session may belong to an OAuth client, which acts for the user. Default: false. */
  readonly ofClients?: boolean
}

/** Finds the user of an access token. @throws {ApiError} */
export async function findUserOfClaims(
  claims: Claims,
  { db, now }: Pick<Services, 'db' | 'now'>,
  accepts: Acceptance = {},
): Promise<CallerRow> {
  const { sub } = claims
  if (typeof sub !== 'string' || sub === '') throw badToken('invalid claim: missing sub claim')
  if (!uuidPattern.test(sub)) throw badToken('invalid claim: sub claim must be a UUID', 400)
  const sessionId = readSessionId(claims)
  const [user] = await db.run(findCaller, { userId: sub, sessionId: sessionId ?? null })
  if (user === undefined || user.deleted_at !== null) {
    throw new ApiError('user_not_found', 'User from sub claim in JWT does not exist', {
      status: 403,
    })
  }
  const hasEnded = user.session_revoked_at !== null && !accepts.ended
  if (sessionId !== undefined && (user.session_id === null || hasEnded)) {
    throw new ApiError('session_not_found', 'Session from session_id claim in JWT does not exist')
  }
  if (user.oauth_client_id !== null && !accepts.ofClients) {
    throw new ApiError(
      'oauth_token_not_allowed',
      'This endpoint does not accept the access tokens of OAuth clients',
    )
  }
  if (user.banned_until !== null && Date.parse(user.banned_until) > now()) {
    throw new ApiError('user_banned', 'User is banned')
  }
  // A token that was issued before the second factor was verified stays at aal1, and so does a
  // session whose factor was removed.
  const aal = claims['aal'] === 'aal2' ? user.aal : 'aal1'
  return { ...user, aal, oauth_grant: user.oauth_grant && toTokenGrant(user.oauth_grant, claims) }
}

/** The grant of the token, which can be narrower than that of its session. */
function toTokenGrant(grant: ClientGrant, { scope }: Claims): ClientGrant {
  return { ...grant, scope: typeof scope === 'string' ? scope : '' }
}

/**
 * Returns the role of an administrator.
 * @param moreRoles accepted in addition to AUTH_JWT_ADMIN_ROLES.
 * @throws {ApiError}
 */
export async function findAdminRole(
  claims: Claims,
  { db, config, now }: Pick<Services, 'db' | 'config' | 'now'>,
  moreRoles: readonly string[] = [],
): Promise<string> {
  const sessionId = readSessionId(claims)
  if (sessionId !== undefined) {
    const limits = toLimitValues(config.tokens.sessions, now())
    const [session] = await db.run(findActiveSession, { sessionId, ...limits })
    if (session === undefined) {
      throw new ApiError('session_expired', 'Session is no longer valid')
    }
  }
  const { role } = claims
  const roles = [...config.tokens.adminRoles, ...moreRoles]
  if (typeof role !== 'string' || !roles.includes(role)) {
    throw new ApiError('not_admin', 'User not allowed')
  }
  return role
}
