import { noContent } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { readSessionId } from './session-id.ts'
import { closeSession } from './session-list.ts'

export const endOwnSession = defineEndpoint({
  method: 'DELETE',
  path: '/user/sessions/:session_id',
  summary: 'Ends one session of the user who asks, on whatever device it is',
  allowed: 'user',
  success: { status: 204, description: 'Its refresh token is revoked' },
  async handle({ caller, params, client }, services) {
    const sessionId = readSessionId(params)
    await closeSession(services, {
      userId: caller.id,
      sessionId,
      entry: toAuditEntry('token_revoked', caller, { session_id: sessionId }),
      ip: client.ip,
    })
    return noContent
  },
})
