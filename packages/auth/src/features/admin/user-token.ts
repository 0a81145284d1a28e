import { nilId } from '../../db/nil-id.ts'
import { ApiError } from '../../errors.ts'
import type { Services } from '../../services.ts'
import type { Json } from '../../stored-json.ts'
import { toSubjectEntry } from '../audit/audit.ts'
import { createAccessToken, fitClaims, toAccessClaims } from '../sessions/access-tokens.ts'
import type { Client } from '../sessions/sessions.ts'
import { getUser } from '../users/user-record.ts'
import { writeAuditEntry } from './statements/audit-log.ts'

/** The token cannot be revoked, so it is valid only as long as a test needs. */
const mostSeconds = 300

interface UserTokenRequest {
  readonly userId: string
  readonly adminRole: string
  readonly client: Client
}

/**
 * Issues an access token for a user to an administrator, to call other servers as this user. It has no session: this
 * server does not accept it, and it cannot be refreshed. The audit log records it. @throws {ApiError}
 */
export async function issueUserToken(
  services: Services,
  { userId, adminRole, client }: UserTokenRequest,
): Promise<Readonly<Record<string, Json>>> {
  const { config, db, signer, hooks, now } = services
  const user = await getUser(services, userId)
  const nowMs = now()
  if (user.banned_until !== null && Date.parse(user.banned_until) > nowMs) {
    throw new ApiError('user_banned', 'User is banned')
  }
  const { issuer, expiresInSeconds } = config.tokens
  const method = 'admin'
  const claims = toAccessClaims(
    { issuer, expiresInSeconds: Math.min(mostSeconds, expiresInSeconds) },
    {
      user,
      sessionId: nilId,
      sessionCreatedAt: new Date(nowMs).toISOString(),
      aal: 'aal1',
      amr: [{ method, timestamp: Math.floor(nowMs / 1_000) }],
    },
    nowMs,
  )
  const { customAccessToken: customize } = hooks
  const input = { user_id: user.id, claims, authentication_method: method }
  const customized = customize === undefined ? claims : await customize(input, { ip: client.ip })
  const size = { mostBytes: config.metadata.mostTokenBytes, onOmitted: () => {} }
  const token = createAccessToken(signer, fitClaims(size, customized, customize !== undefined))
  const entry = toSubjectEntry('token_issued', adminRole, user)
  await db.run(writeAuditEntry, {
    id: entry.id,
    payload: entry.payload,
    ip: client.ip,
    now: new Date(nowMs),
  })
  return {
    access_token: token.text,
    token_type: 'bearer',
    expires_in: token.expiresInSeconds,
    expires_at: token.expiresAtSeconds,
  }
}
