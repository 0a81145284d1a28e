import { findBoundKey } from '../../dpop/proof.ts'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { Claims } from '../../tokens/json-web-token.ts'
import { areKeyClaims, findExchangedKey } from '../api-keys/use-key.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { findOAuthClient, type OAuthClientRow } from '../oauth-clients/statements.ts'
import {
  findUserOfClaims,
  readAccessToken,
  readSessionId,
  readToken,
  uuidPattern,
} from '../sessions/bearer.ts'
import { endSession } from '../sessions/statements/session-list.ts'
import { toConfirmation } from './grants/grant.ts'
import { oauthError } from './oauth-error.ts'

/** A token of this server that is valid now. */
interface ActiveToken {
  readonly kind: 'access_token' | 'refresh_token'
  /** The row of the client; null for a token of this server's own users. */
  readonly clientId: string | null
  readonly claims: Claims
}

/**
 * Describes a token (RFC 7662). A client that an administrator has registered may ask about every
 * token, because APIs are such clients; others only about their own.
 */
export async function introspect(
  services: Services,
  client: OAuthClientRow,
  token: string,
): Promise<Claims> {
  if (client.client_type === 'public') {
    throw oauthError('unauthorized_client', 'Only a confidential client can introspect tokens')
  }
  const active =
    (await findRefreshToken(services, token)) ?? (await findAccessToken(services, token))
  const isAllowed = client.registration_type === 'manual' || active?.clientId === client.id
  if (active === undefined || !isAllowed) return { active: false }
  return { active: true, ...active.claims }
}

async function findRefreshToken(
  services: Services,
  token: string,
): Promise<ActiveToken | undefined> {
  const found = await services.sessions.find(token)
  if (found === undefined || !found.isCurrent) return undefined
  const { id: sub, oauth_client_id: clientId, oauth_grant: grant } = found.session
  // The refresh tokens of this server's own users are not OAuth tokens.
  if (clientId === null || grant === null) return undefined
  const { client_id, scope, jkt } = grant
  return {
    kind: 'refresh_token',
    clientId,
    claims: { sub, client_id, scope, ...toConfirmation(jkt) },
  }
}

async function findAccessToken(
  services: Services,
  token: string,
): Promise<ActiveToken | undefined> {
  try {
    const claims = readAccessToken(token, services.signer, services.now())
    const isBound = findBoundKey(claims) !== undefined
    const shown = { ...pick(claims), token_type: isBound ? 'DPoP' : 'Bearer' }
    if (isOfClient(claims)) {
      const id = claims.client_id
      const [client] = await services.db.run(findOAuthClient, { id })
      return client && { kind: 'access_token', clientId: id, claims: shown }
    }
    if (areKeyClaims(claims)) {
      const key = await findExchangedKey(services, claims)
      return key && { kind: 'access_token', clientId: null, claims: shown }
    }
    const user = await findUserOfClaims(claims, services, { ofClients: true })
    return { kind: 'access_token', clientId: user.oauth_client_id, claims: shown }
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return undefined
    throw error
  }
}

const shownClaims = [
  ...['iss', 'sub', 'aud', 'exp', 'iat', 'jti', 'scope', 'client_id', 'role', 'aal', 'session_id'],
  ...['cnf', 'act', 'key_id', 'plan'],
]

function pick(claims: Claims): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => shownClaims.includes(name)))
}

/** Whether a client got the token for itself. */
function isOfClient(claims: Claims): claims is Claims & { readonly client_id: string } {
  const { sub, client_id: clientId, session_id: sessionId } = claims
  const isOwn = sub === clientId && sessionId === undefined
  return isOwn && typeof clientId === 'string' && uuidPattern.test(clientId)
}

/**
 * Ends the session of an access or refresh token (RFC 7009). An unknown token is not an error, because
 * it cannot be used either.
 * @throws {ApiError} if the token belongs to another client.
 */
export async function revoke(
  services: Services,
  client: OAuthClientRow,
  token: string,
  ip: string,
): Promise<void> {
  const session = await findSession(services, token)
  if (session === undefined) return checkRevocable(services, token)
  if (session.clientId !== client.id) {
    throw oauthError('invalid_grant', 'The token was issued to another client')
  }
  const { user, sessionId } = session
  const entry = toAuditEntry('token_revoked', user, {
    session_id: sessionId,
    client_id: client.id,
  })
  await services.db.run(endSession, {
    userId: user.id,
    sessionId,
    now: new Date(services.now()),
    auditId: entry.id,
    auditPayload: entry.payload,
    ip,
  })
}

/**
 * A client's own token has no session that could be ended, and a response of success would say that it is no longer valid.
 * @throws {ApiError}
 */
function checkRevocable({ signer, now }: Services, token: string): void {
  const claims = tryReadToken(token, signer, now())
  if (claims === undefined || !isOfClient(claims)) return
  throw oauthError(
    'unsupported_token_type',
    'The token of the client itself is valid until it expires',
  )
}

function tryReadToken(...input: Parameters<typeof readAccessToken>): Claims | undefined {
  try {
    return readAccessToken(...input)
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return undefined
    throw error
  }
}

async function findSession(services: Services, token: string) {
  const found = await services.sessions.find(token)
  if (found !== undefined) {
    const { session } = found
    return { user: session, sessionId: session.session_id, clientId: session.oauth_client_id }
  }
  try {
    const claims = readToken(token, services.signer, services.now())
    const sessionId = readSessionId(claims)
    if (sessionId === undefined) return undefined
    const user = await findUserOfClaims(claims, services, { ended: true, ofClients: true })
    return { user, sessionId, clientId: user.oauth_client_id }
  } catch (error) {
    if (error instanceof ApiError && error.status < 500) return undefined
    throw error
  }
}
