import { randomUUID } from 'node:crypto'
import type { Services } from '../../../services.ts'
import { type ClientGrant, hasScope } from '../../../tokens/client-grants.ts'
import { toAuditEntry } from '../../audit/audit.ts'
import type { GrantType } from '../../oauth-clients/client-fields.ts'
import { type OAuthClientRow, toPublicId } from '../../oauth-clients/statements.ts'
import type { Client, TokenResponse } from '../../sessions/sessions.ts'
import type { SessionRow } from '../../sessions/statements/sessions.ts'
import { clientMethod, createIdToken } from '../id-token.ts'
import { oauthError } from '../oauth-error.ts'
import { narrowResources } from '../requested-access.ts'
import { type ApprovedRow, exchangeCode } from '../statements/codes.ts'

/** A request to the token endpoint of a client that has authenticated. */
export interface GrantRequest {
  readonly client: OAuthClientRow
  /** The parameters of the body. An absent one is undefined, and so is an empty one. */
  readonly parameters: Readonly<Record<string, string | undefined>>
  readonly connection: Client
  /** The thumbprint of the key that has proven itself (DPoP). Undefined: the client gets bearer tokens. */
  readonly proofKey: string | undefined
}

/** RFC 6750 and RFC 9449, section 5. */
type TokenType = 'bearer' | 'DPoP'

export function toTokenType(proofKey: string | undefined): TokenType {
  return proofKey === undefined ? 'bearer' : 'DPoP'
}

/** The claim that binds an access token to a key. */
export function toConfirmation(proofKey: string | undefined) {
  return proofKey === undefined ? {} : { cnf: { jkt: proofKey } }
}

/** The response of RFC 6749, section 5.1. */
export interface TokenAnswer {
  readonly access_token: string
  readonly token_type: TokenType
  readonly expires_in: number
  readonly refresh_token?: string
  readonly id_token?: string
  readonly scope: string
  /** Token exchange only (RFC 8693, section 2.2.1). */
  readonly issued_token_type?: string
}

export interface Granted {
  readonly answer: TokenAnswer
  /** Called when the response was sent. */
  readonly onSent?: () => void
}

/** A way to get tokens. `index.ts` lists all of them. */
export interface Grant extends GrantType {
  /** The parameters that only this grant has, with their descriptions. */
  readonly parameters: Readonly<Record<string, string>>
  /** @throws {ApiError} */
  issue(services: Services, request: GrantRequest): Promise<Granted>
}

/** Opens the session of the client. @throws {ApiError} */
export async function exchange(
  services: Services,
  { client, parameters, connection, proofKey }: GrantRequest,
  approved: ApprovedRow,
): Promise<Granted> {
  const nowMs = services.now()
  checkUser(approved, nowMs)
  const { scope, resource, nonce } = approved
  const grant: ClientGrant = {
    client_id: toPublicId(client),
    scope,
    resource,
    ...(proofKey !== undefined && { jkt: proofKey }),
  }
  // The session keeps the whole grant, so that a refresh can get tokens for the other resources.
  const issued = { ...grant, resource: narrowResources(resource, parameters['resource']) }
  const user = { ...approved, id: approved.user_id }
  const [session] = await services.db.run(exchangeCode, {
    id: approved.id,
    session_id: randomUUID(),
    grant,
    method: { method: clientMethod, timestamp: Math.floor(nowMs / 1_000) },
    user_agent: connection.userAgent,
    ip: connection.ip,
    audit: toAuditEntry('login', user, { provider: clientMethod, client_id: client.id }),
    now: new Date(nowMs),
  })
  // A concurrent request used the same code, or the user has signed out.
  if (session === undefined) throw oauthError('invalid_grant', 'The code is no longer valid')
  const narrowed = { ...session, oauth_grant: issued }
  const tokens = await services.sessions.toTokenResponse(narrowed, connection)
  return { answer: await toTokenAnswer(services, { client, grant, tokens, session, nonce }) }
}

/** @throws {ApiError} */
function checkUser(
  { deleted_at: deletedAt, banned_until: bannedUntil }: ApprovedRow,
  nowMs: number,
) {
  if (deletedAt !== null) throw oauthError('invalid_grant', 'The user no longer exists')
  if (bannedUntil !== null && Date.parse(bannedUntil) > nowMs) {
    throw oauthError('access_denied', 'User is banned')
  }
}

interface Issued {
  readonly client: OAuthClientRow
  readonly grant: ClientGrant
  readonly tokens: TokenResponse
  readonly session: SessionRow
  readonly nonce: string
}

/** The response with the tokens of a session, without the user record. */
export async function toTokenAnswer(
  services: Services,
  { client, grant, tokens, session, nonce }: Issued,
): Promise<TokenAnswer> {
  const accessToken = `${tokens['access_token']}`
  const isRefreshable = client.grant_types.includes('refresh_token')
  return {
    access_token: accessToken,
    token_type: toTokenType(grant.jkt),
    expires_in: Number(tokens['expires_in']),
    ...(isRefreshable && { refresh_token: `${tokens['refresh_token']}` }),
    ...(hasScope(grant, 'openid') && {
      id_token: await createIdToken(services, { session, grant, accessToken, nonce }),
    }),
    scope: grant.scope,
  }
}
