import { ApiError, invalid } from '../../../errors.ts'
import { json, noContent } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import type { Services } from '../../../services.ts'
import { readUserId } from '../../admin/endpoints/users.ts'
import { type AuditEntry, toAuditEntry, toSubjectEntry } from '../../audit/audit.ts'
import { requireOAuthServer } from '../../oauth-clients/enabled.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { getUser } from '../../users/user-record.ts'
import { listGrants, revokeGrant } from '../statements/grants.ts'

const path = '/user/oauth/grants'
const adminPath = '/admin/users/:user_id/oauth/grants'

export const listOwnGrants = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Lists what the signed-in user has granted to OAuth clients',
  allowed: 'user',
  success: { status: 200, description: 'An array of client, scopes, resources and granted_at' },
  async handle({ caller }, services) {
    requireOAuthServer(services)
    return json(await findGrants(services, caller.id))
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
    const clientId = parseClientId(query)
    const entry = toAuditEntry('oauth_consent_revoked', caller, { client_id: clientId })
    await removeGrant(services, { userId: caller.id, clientId, entry, ip: client.ip })
    return noContent
  },
})

export const adminListGrants = defineEndpoint({
  method: 'GET',
  path: adminPath,
  summary: 'Lists what a user has granted to OAuth clients',
  allowed: 'admin',
  success: { status: 200, description: 'An array of client, scopes, resources and granted_at' },
  async handle({ params }, services) {
    requireOAuthServer(services)
    const { id } = await getUser(services, readUserId(params))
    return json(await findGrants(services, id))
  },
})

export const adminRevokeGrant = defineEndpoint({
  method: 'DELETE',
  path: adminPath,
  summary: 'Revokes what a user has granted to an OAuth client, and ends its sessions',
  allowed: 'admin',
  query: { client_id: 'The client' },
  success: { status: 204, description: 'The grant was revoked' },
  async handle({ params, query, adminRole, client }, services) {
    requireOAuthServer(services)
    const clientId = parseClientId(query)
    const user = await getUser(services, readUserId(params))
    const traits = { client_id: clientId }
    const entry = toSubjectEntry('oauth_consent_revoked', adminRole, user, traits)
    await removeGrant(services, { userId: user.id, clientId, entry, ip: client.ip })
    return noContent
  },
})

async function findGrants({ db }: Services, userId: string) {
  const rows = await db.run(listGrants, { userId })
  return rows.map((row) => ({
    client: {
      id: row.metadata_url ?? row.client_id,
      ...(row.client_name !== '' && { name: row.client_name }),
      ...(row.client_uri !== '' && { uri: row.client_uri }),
      ...(row.logo_uri !== '' && { logo_uri: row.logo_uri }),
    },
    scopes: row.scopes,
    resources: row.resources,
    granted_at: row.granted_at,
  }))
}

/** @throws {ApiError} */
function parseClientId({ client_id: id = '' }: Readonly<Record<string, string | undefined>>) {
  if (id === '') throw invalid('client_id query parameter is required')
  if (uuidPattern.test(id)) return id.toLowerCase()
  // The identifier of a client that is described by a document is the URL of the document.
  if (URL.canParse(id)) return id
  throw invalid('invalid client_id format')
}

interface Revocation {
  readonly userId: string
  readonly clientId: string
  readonly entry: AuditEntry
  readonly ip: string
}

/** @throws {ApiError} if the user has granted nothing to the client. */
async function removeGrant(
  { db, now }: Services,
  { userId, clientId, entry, ip }: Revocation,
): Promise<void> {
  const [revoked] = await db.run(revokeGrant, {
    userId,
    clientId,
    now: new Date(now()),
    auditId: entry.id,
    auditPayload: entry.payload,
    ip,
  })
  if (revoked !== undefined) return
  throw new ApiError('oauth_consent_not_found', 'No active grant found for this client')
}
