import { ApiError } from '../../errors.ts'
import { findCaller } from '../../features/users/statements/find-users.ts'
import type { Services } from '../../services.ts'
import type { Claims } from '../../tokens/json-web-token.ts'
import type { CallerRow } from '../call.ts'
import { badToken, readSessionId, uuidPattern } from './bearer.ts'

/** The user who shows these claims. One statement. @throws {ApiError} */
export async function findUserOfClaims(
  claims: Claims,
  { db, now }: Pick<Services, 'db' | 'now'>,
  takesEnded: boolean,
): Promise<CallerRow> {
  const { sub } = claims
  if (typeof sub !== 'string' || sub === '') throw badToken('invalid claim: missing sub claim')
  if (!uuidPattern.test(sub)) throw badToken('invalid claim: sub claim must be a UUID', 400)
  const sessionId = readSessionId(claims)
  const [user] = await db.run<CallerRow>(findCaller, [sub, sessionId ?? null])
  if (user === undefined || user.deleted_at !== null) {
    throw new ApiError('user_not_found', 'User from sub claim in JWT does not exist', {
      status: 403,
    })
  }
  const hasEnded = user.session_revoked_at !== null && !takesEnded
  if (sessionId !== undefined && (user.session_id === null || hasEnded)) {
    throw new ApiError('session_not_found', 'Session from session_id claim in JWT does not exist')
  }
  if (user.banned_until !== null && Date.parse(user.banned_until) > now()) {
    throw new ApiError('user_banned', 'User is banned')
  }
  // A token of before a second factor stays what it was, and so does a session that has lost it since.
  return { ...user, aal: claims['aal'] === 'aal2' ? user.aal : 'aal1' }
}
