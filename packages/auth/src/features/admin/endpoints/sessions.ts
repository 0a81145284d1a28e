import { parseTime } from '@portcullis/service-kit/text/time'
import { invalid } from '../../../errors.ts'
import { json, noContent } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { toAdminEntry } from '../../audit/audit.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { readSessionId } from '../../sessions/endpoints.ts'
import { closeSession, revokeAllSessions } from '../../sessions/session-list.ts'
import { issueUserToken } from '../user-token.ts'
import { findSessionsOf } from '../users.ts'
import { readUserId } from './users.ts'

export const adminListSessions = defineEndpoint({
  method: 'GET',
  path: '/admin/users/:user_id/sessions',
  summary: 'Lists the sessions of a user',
  allowed: 'admin',
  success: { status: 200, description: 'An array of sessions, most recently used first' },
  async handle({ params }, services) {
    return json(await findSessionsOf(services, readUserId(params)))
  },
})

export const adminEndSession = defineEndpoint({
  method: 'DELETE',
  path: '/admin/users/:user_id/sessions/:session_id',
  summary: 'Revokes one session of a user',
  allowed: 'admin',
  success: { status: 204, description: 'The session and its refresh token were revoked' },
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

export const adminIssueUserToken = defineEndpoint({
  method: 'POST',
  path: '/admin/users/:user_id/token',
  summary:
    'Issues an access token for a user, with which an administrator can call other servers as this user',
  allowed: 'admin',
  success: {
    status: 200,
    description:
      'access_token, token_type, expires_in and expires_at. The token is valid for at most 5 minutes and has no session',
  },
  async handle({ params, adminRole, client }, services) {
    return json(await issueUserToken(services, { userId: readUserId(params), adminRole, client }))
  },
})

/** The share of the request timeout after which no further batch is started. */
const usedShare = 0.6

export const adminRevokeAllSessions = defineEndpoint({
  method: 'DELETE',
  path: '/admin/sessions',
  summary:
    'Revokes the sessions of all users. Repeat with `after` from the response until it is absent',
  allowed: 'admin',
  query: {
    before: 'Only sessions opened before this time, in the format of the response. Default: now',
    after: '`after` from the previous response',
  },
  success: {
    status: 200,
    description: 'revoked (the number of sessions), before, and after if there are more',
  },
  async handle({ query, adminRole, client }, services) {
    const { before: beforeText, after } = query
    const beforeMs = beforeText === undefined ? services.now() : parseTime(beforeText)
    if (beforeMs === undefined) throw invalid('before must be a time such as 2030-01-31T12:00:00Z')
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
