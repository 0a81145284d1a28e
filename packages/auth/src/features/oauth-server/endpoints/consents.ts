import { invalid } from '../../../errors.ts'
import { type Call, json, noContent } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import type { Services } from '../../../services.ts'
import { readUserId } from '../../admin/endpoints/users.ts'
import { toAuditEntry, toSubjectEntry } from '../../audit/audit.ts'
import { requireOAuthServer } from '../../oauth-clients/clients.ts'
import { uuidPattern } from '../../sessions/bearer.ts'
import { getUser } from '../../users/user-record.ts'
import { decideAuthorization, openAuthorization } from '../authorizations.ts'
import { findGrants, removeGrant, toShownClient } from '../consents.ts'

const path = '/oauth/authorizations/:authorization_id'

export const getAuthorization = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Returns the request of an OAuth client, for a consent page',
  allowed: 'user',
  success: {
    status: 200,
    description:
      'The client, the user and the scopes; or only redirect_url, if the user has granted this before',
  },
  async handle({ caller, params, client, header }, services) {
    requireOAuthServer(services)
    checkOrigin(header('origin'), services)
    const id = params['authorization_id'] ?? ''
    const opened = await openAuthorization(services, id, { person: caller, ip: client.ip })
    if (opened.step === 'redirect') return json({ redirect_url: opened.location })
    const { request } = opened
    return json({
      authorization_id: id,
      redirect_uri: request.redirect_uri,
      client: toShownClient(request),
      user: { id: caller.id, email: caller.email ?? '' },
      scope: request.scope,
      ...(request.user_code !== null && { user_code: request.user_code }),
      ...(request.resource !== '' && { resource: request.resource }),
    })
  },
})

export const decideConsent = defineEndpoint({
  method: 'POST',
  path: `${path}/consent`,
  summary: 'Grants or refuses the request of an OAuth client',
  allowed: 'user',
  body: Type.Object({
    action: Type.Optional(Type.String({ description: 'approve or deny' })),
  }),
  success: { status: 200, description: 'redirect_url, where the browser continues' },
  async handle({ caller, params, client, header, body }, services) {
    requireOAuthServer(services)
    checkOrigin(header('origin'), services)
    const { action } = body
    if (action !== 'approve' && action !== 'deny') {
      throw invalid("action must be 'approve' or 'deny'")
    }
    const id = params['authorization_id'] ?? ''
    const decider = { person: caller, ip: client.ip }
    const location = await decideAuthorization(services, id, decider, action === 'approve')
    return json({ redirect_url: location })
  },
})

/** Programs send no origin. A page must be one that this server redirects to. @throws {ApiError} */
function checkOrigin(origin: ReturnType<Call['header']>, { redirects }: Services): void {
  if (origin === undefined || redirects.judge(origin).isPermitted) return
  throw invalid('unauthorized request origin')
}

const grantsPath = '/user/oauth/grants'
const adminGrantsPath = '/admin/users/:user_id/oauth/grants'

export const listOwnGrants = defineEndpoint({
  method: 'GET',
  path: grantsPath,
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
  path: grantsPath,
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
  path: adminGrantsPath,
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
  path: adminGrantsPath,
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

/** @throws {ApiError} */
function parseClientId({ client_id: id = '' }: Readonly<Record<string, string | undefined>>) {
  if (id === '') throw invalid('client_id query parameter is required')
  if (uuidPattern.test(id)) return id.toLowerCase()
  // The identifier of a client that is described by a document is the URL of the document.
  if (URL.canParse(id)) return id
  throw invalid('invalid client_id format')
}
