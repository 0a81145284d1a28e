import { ApiError, invalid } from '../../../errors.ts'
import { json, noContent } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { toAuditEntry } from '../../audit/audit.ts'
import { requireOAuthServer } from '../../oauth-clients/enabled.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { listGrants, revokeGrant } from '../statements/grants.ts'

const path = '/user/oauth/grants'

export const listOwnGrants = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Lists what the signed-in user has granted to OAuth clients',
  allowed: 'user',
  success: { status: 200, description: 'An array of client, scopes, resources and granted_at' },
  async handle({ caller }, services) {
    requireOAuthServer(services)
    const rows = await services.db.run(listGrants, { userId: caller.id })
    return json(
      rows.map((row) => ({
        client: {
          id: row.metadata_url ?? row.client_id,
          ...(row.client_name !== '' && { name: row.client_name }),
          ...(row.client_uri !== '' && { uri: row.client_uri }),
          ...(row.logo_uri !== '' && { logo_uri: row.logo_uri }),
        },
        scopes: row.scopes,
        resources: row.resources,
        granted_at: row.granted_at,
      })),
    )
  },
})

export const revokeOwnGrant = defineEndpoint({
  method: 'DELETE',
  path,
  summary: 'Revokes what the signed-in user has granted to an OAuth client, and ends its sessions',
  allowed: 'user',
  query: { client_id: 'The client' },
  success: { status: 204, description: 'The grant was revoked' },
  async handle({ caller, query, client }, services) {
    requireOAuthServer(services)
    const { client_id: clientId = '' } = query
    if (clientId === '') throw invalid('client_id query parameter is required')
    if (!uuidPattern.test(clientId) && !URL.canParse(clientId)) {
      throw invalid('invalid client_id format')
    }
    const entry = toAuditEntry('oauth_consent_revoked', caller, { client_id: clientId })
    const [revoked] = await services.db.run(revokeGrant, {
      userId: caller.id,
      clientId: uuidPattern.test(clientId) ? clientId.toLowerCase() : clientId,
      now: new Date(services.now()),
      auditId: entry.id,
      auditPayload: entry.payload,
      ip: client.ip,
    })
    if (revoked !== undefined) return noContent
    throw new ApiError('oauth_consent_not_found', 'No active grant found for this client')
  },
})
