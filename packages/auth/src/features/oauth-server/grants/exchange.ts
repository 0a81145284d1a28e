import { randomUUID } from 'node:crypto'
import type { Services } from '../../../services.ts'
import { toAuditEntry } from '../../audit/audit.ts'
import { toPublicId } from '../../oauth-clients/statements.ts'
import type { ClientGrant } from '../../sessions/client-grants.ts'
import { clientMethod } from '../id-token.ts'
import { oauthError } from '../oauth-error.ts'
import { narrowResources } from '../resources.ts'
import { type ApprovedRow, exchangeCode } from '../statements/codes.ts'
import type { Granted, GrantRequest } from './grant.ts'
import { toTokenAnswer } from './token-answer.ts'

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
