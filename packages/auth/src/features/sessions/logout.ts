import { invalid } from '../../errors.ts'
import { noContent } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { toAuditEntry } from '../audit/audit.ts'
import { revokeByScope } from './statements/sessions.ts'

const scopes: ReadonlySet<string> = new Set(['global', 'local', 'others'])

export const logout = defineEndpoint({
  method: 'POST',
  path: '/logout',
  summary: 'Ends sessions of the user who asks',
  allowed: 'former user',
  query: { scope: 'global (all sessions, the default), local (this one) or others' },
  success: { status: 204, description: 'Their refresh tokens are revoked' },
  async handle({ caller, query, client }, { db, now }) {
    const { scope = 'global' } = query
    if (!scopes.has(scope)) throw invalid(`Unsupported logout scope "${scope}"`)
    const { id, payload } = toAuditEntry('logout', caller)
    await db.run(revokeByScope, [
      caller.id,
      caller.session_id,
      scope,
      new Date(now()),
      id,
      payload,
      client.ip,
    ])
    return noContent
  },
})
