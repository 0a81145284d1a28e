import { invalid } from '../../../errors.ts'
import { json, noContent } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { toAdminEntry } from '../../audit/audit.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { readSessionId } from '../../sessions/endpoints.ts'
import { closeSession, revokeAllSessions } from '../../sessions/session-list.ts'
import { findSessionsOf } from '../users.ts'
import { readUserId } from './users.ts'

export const adminListSessions = defineEndpoint({
  method: 'GET',
  path: '/admin/users/:user_id/sessions',
  summary: 'Where a user is signed in',
  allowed: 'admin',
  success: { status: 200, description: 'An array of sessions, the last used first' },
  async handle({ params }, services) {
    return json(await findSessionsOf(services, readUserId(params)))
  },
})

export const adminEndSession = defineEndpoint({
  method: 'DELETE',
  path: '/admin/users/:user_id/sessions/:session_id',
  summary: 'Ends one session of a user',
  allowed: 'admin',
  success: { status: 204, description: 'Its refresh token is revoked' },
  async handle({ params, adminRole, client }, services) {
    const userId = readUserId(params)
    const sessionId = readSessionId(params)
    await closeSession(services, {
      userId,
      sessionId,
      entry: toAdminEntry('token_revoked', adminRole, { user_id: userId, session_id: sessionId }),
      ip: client.ip,
    })
    return noContent
  },
})

/** The part of the request's time limit after which no further batch begins. */
const usedShare = 0.6

export const adminRevokeAllSessions = defineEndpoint({
  method: 'DELETE',
  path: '/admin/sessions',
  summary:
    'Revokes the sessions of all users; repeat it with the `after` of the answer until there is none',
  allowed: 'admin',
  query: {
    before: 'Sessions that were opened later stay: a time as in the answer; now by default',
    after: 'Where the call before ended',
  },
  success: { status: 200, description: 'revoked: how many; before; after, if there are more' },
  async handle({ query, adminRole, client }, services) {
    const { before: beforeText, after } = query
    const beforeMs = beforeText === undefined ? services.now() : Date.parse(beforeText)
    if (Number.isNaN(beforeMs)) throw invalid('before must be a time such as 2030-01-31T12:00:00Z')
    if (after !== undefined && !uuidPattern.test(after)) throw invalid('after must be a UUID')
    const endsAt = performance.now() + services.config.api.maxRequestDurationMs * usedShare
    const revoked = await revokeAllSessions(
      services,
      { beforeMs, after, adminRole, ip: client.ip },
      () => performance.now() < endsAt,
    )
    return json({
      revoked: revoked.count,
      before: new Date(beforeMs).toISOString(),
      ...(revoked.after !== undefined && { after: revoked.after }),
    })
  },
})
