import { invalid } from '../../errors.ts'
import { json, noContent } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { uuidPattern } from './bearer.ts'
import { closeSession, findSessions, logOut } from './session-list.ts'

const scopes = ['global', 'local', 'others'] as const

export const logout = defineEndpoint({
  method: 'POST',
  path: '/logout',
  summary: 'Ends sessions of the signed-in user',
  allowed: 'former user',
  query: { scope: 'global (all sessions), local (this session) or others. Default: global' },
  success: { status: 204, description: 'The sessions were ended and their refresh tokens revoked' },
  async handle({ caller, query, client }, services) {
    const { scope: name = 'global' } = query
    const scope = scopes.find((known) => known === name)
    if (scope === undefined) throw invalid(`Unsupported logout scope "${name}"`)
    await logOut(services, {
      userId: caller.id,
      sessionId: caller.session_id,
      scope,
      entry: toAuditEntry('logout', caller),
      ip: client.ip,
    })
    return noContent
  },
})

export const listOwnSessions = defineEndpoint({
  method: 'GET',
  path: '/user/sessions',
  summary:
    'Lists the sessions of the signed-in user with device, IP address and last use, most recently used first',
  allowed: 'user',
  success: { status: 200, description: 'An array of sessions. is_current marks this session' },
  async handle({ caller }, services) {
    return json(await findSessions(services, caller.id, caller.session_id))
  },
})

export const endOwnSession = defineEndpoint({
  method: 'DELETE',
  path: '/user/sessions/:session_id',
  summary: 'Ends one session of the signed-in user, on any device',
  allowed: 'user',
  success: { status: 204, description: 'The session was ended and its refresh token revoked' },
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

/** Reads the session ID from the path. @throws {ApiError} */
export function readSessionId(params: Readonly<Record<string, string>>): string {
  const id = params['session_id'] ?? ''
  if (uuidPattern.test(id)) return id.toLowerCase()
  throw invalid('session_id must be an UUID', { status: 404 })
}
