import { randomUUID } from 'node:crypto'
import type { Services } from '../../../services.ts'
import { toAuditEntry } from '../../audit/audit.ts'
import { matchesVerifier } from '../../sessions/pkce.ts'
import type { Client } from '../../sessions/sessions.ts'
import { endSession } from '../../sessions/statements/session-list.ts'
import { toCodeHash } from '../authorizations.ts'
import { clientMethod } from '../id-token.ts'
import { oauthError } from '../oauth-error.ts'
import { type CodeRow, exchangeCode, findCode } from '../statements/codes.ts'
import type { Grant, GrantRequest } from './grant.ts'
import { toTokenAnswer } from './token-answer.ts'

/** Exchanges the code of an approved request for the tokens of a new session. */
export const authorizationCode: Grant = async (services, request) => {
  const { client, parameters, connection } = request
  const { code } = parameters
  if (code === undefined) {
    throw oauthError('invalid_request', 'code is required for authorization_code grant')
  }
  const [row] = await services.db.run(findCode, { codeHash: toCodeHash(code) })
  if (row === undefined) throw invalidCode()
  check(row, request, services.now())
  if (row.status === 'exchanged') {
    await endReplayed(services, row, connection)
    throw invalidCode()
  }
  const grant = { client_id: client.id, scope: row.scope, resource: row.resource }
  const nowMs = services.now()
  const user = { ...row, id: row.user_id }
  const [session] = await services.db.run(exchangeCode, {
    id: row.id,
    session_id: randomUUID(),
    grant,
    method: { method: clientMethod, timestamp: Math.floor(nowMs / 1_000) },
    user_agent: connection.userAgent,
    ip: connection.ip,
    audit: toAuditEntry('login', user, { provider: clientMethod, client_id: client.id }),
    now: new Date(nowMs),
  })
  // A concurrent request used the same code.
  if (session === undefined) throw invalidCode()
  const tokens = await services.sessions.toTokenResponse(session, connection)
  const { nonce } = row
  return { answer: toTokenAnswer(services, { client, grant, tokens, session, nonce }) }
}

/** @throws {ApiError} */
function check(row: CodeRow, { client, parameters }: GrantRequest, nowMs: number): void {
  const { code_verifier: verifier, redirect_uri: redirectUri, resource } = parameters
  if (row.client_id !== client.id) {
    throw oauthError('invalid_grant', 'Authorization code was not issued for this client')
  }
  if (nowMs > Date.parse(row.expires_at)) {
    throw oauthError('invalid_grant', 'Authorization code has expired')
  }
  if (redirectUri !== undefined && redirectUri !== row.redirect_uri) {
    throw oauthError('invalid_grant', 'Invalid redirect_uri')
  }
  if (verifier === undefined) {
    throw oauthError('invalid_grant', 'PKCE verification failed: code_verifier is required')
  }
  if (!matchesVerifier({ challenge: row.code_challenge, method: 's256' }, verifier)) {
    throw oauthError('invalid_grant', 'PKCE verification failed: the code verifier does not match')
  }
  if (resource !== undefined && resource !== row.resource) {
    throw oauthError('invalid_target', 'The code was not issued for this resource')
  }
  if (row.deleted_at !== null) throw invalidCode()
  if (row.banned_until !== null && Date.parse(row.banned_until) > nowMs) {
    throw oauthError('access_denied', 'User is banned')
  }
}

/**
 * Someone has used the code before, so that its tokens may be in the wrong hands (RFC 6749, section 4.1.2).
 * The verifier was right, so seeing the code is not enough to end the session.
 */
async function endReplayed(services: Services, row: CodeRow, { ip }: Client): Promise<void> {
  if (row.session_id === null) return
  const entry = toAuditEntry(
    'token_revoked',
    { ...row, id: row.user_id },
    { session_id: row.session_id, reason: 'authorization_code_already_used' },
  )
  await services.db.run(endSession, {
    userId: row.user_id,
    sessionId: row.session_id,
    now: new Date(services.now()),
    auditId: entry.id,
    auditPayload: entry.payload,
    ip,
  })
}

function invalidCode() {
  return oauthError('invalid_grant', 'Invalid authorization code')
}
