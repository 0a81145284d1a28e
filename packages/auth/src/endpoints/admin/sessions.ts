import { userNotFound } from '../../core/admin-update-user.ts'
import { toAdminEntry } from '../../core/audit.ts'
import { closeSession, findSessions } from '../../core/session-list.ts'
import { findUserById } from '../../db/users.ts'
import { json, noContent } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { readSessionId } from '../sessions/session-id.ts'
import { readUserId } from './user-id.ts'

export const adminListSessions = defineEndpoint({
  method: 'GET',
  path: '/admin/users/:user_id/sessions',
  summary: 'Where a user is signed in',
  allowed: 'admin',
  success: { status: 200, description: 'An array of sessions, the last used first' },
  async handle({ params }, services) {
    const userId = readUserId(params)
    const sessions = await findSessions(services, userId, null)
    if (sessions.length > 0) return json(sessions)
    const [user] = await services.db.run(findUserById, [userId])
    if (user === undefined) throw userNotFound()
    return json([])
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
