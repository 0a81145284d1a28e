import { ApiError } from '../../errors.ts'
import { toLimitValues } from '../../features/sessions/session-limits.ts'
import { findAdminSession } from '../../features/sessions/statements/sessions.ts'
import type { Services } from '../../services.ts'
import type { Claims } from '../../tokens/json-web-token.ts'
import { readSessionId } from './bearer.ts'

/**
 * The role of an administrator.
 * @param moreRoles that count here, beside AUTH_JWT_ADMIN_ROLES.
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
    const [session] = await db.run(findAdminSession, [sessionId, ...limits])
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
