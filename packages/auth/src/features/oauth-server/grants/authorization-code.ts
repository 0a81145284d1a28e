import type { Services } from '../../../services.ts'
import { toAuditEntry } from '../../audit/audit.ts'
import { matchesVerifier } from '../../sessions/pkce.ts'
import type { Client } from '../../sessions/sessions.ts'
import { endSession } from '../../sessions/statements/session-list.ts'
import { toCodeHash } from '../authorizations.ts'
import { oauthError } from '../oauth-error.ts'
import { narrowResources } from '../requested-access.ts'
import { type CodeRow, findCode } from '../statements/codes.ts'
import { exchange, type Grant, type GrantRequest } from './grant.ts'

/** Exchanges the code of an approved request for the tokens of a new session. */
export const authorizationCode: Grant = {
  name: 'authorization_code',
  isTrusted: false,
  parameters: {
    code: 'authorization_code: the code from the redirect',
    redirect_uri: 'authorization_code: the redirect URI of the request. Optional',
    code_verifier: 'authorization_code: the PKCE verifier',
  },
  async issue(services, request) {
    const { code } = request.parameters
    if (code === undefined) {
      throw oauthError('invalid_request', 'code is required for authorization_code grant')
    }
    const [row] = await services.db.run(findCode, { codeHash: toCodeHash(code) })
    if (row === undefined) throw invalidCode()
    check(row, request)
    if (row.status === 'exchanged') {
      await endReplayed(services, row, request.connection)
      throw invalidCode()
    }
    if (services.now() > Date.parse(row.expires_at)) {
      throw oauthError('invalid_grant', 'Authorization code has expired')
    }
    return await exchange(services, request, row)
  },
}

/** @throws {ApiError} */
function check(row: CodeRow, { client, parameters, proofKey }: GrantRequest): void {
  const { code_verifier: verifier, redirect_uri: redirectUri, resource } = parameters
  if (row.client_id !== client.id) {
    throw oauthError('invalid_grant', 'Authorization code was not issued for this client')
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
  if (row.dpop_jkt !== null && proofKey !== row.dpop_jkt) {
    throw oauthError('invalid_grant', 'The code needs a DPoP proof of the key of its request')
  }
  narrowResources(row.resource, resource)
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
