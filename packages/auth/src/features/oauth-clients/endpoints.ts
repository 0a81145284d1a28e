import { invalid } from '../../errors.ts'
import { json, noContent } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { largestPageSize, parsePage, toPageHeaders } from '../../http/pages.ts'
import { Type } from '../../http/schema.ts'
import { uuidPattern } from '../sessions/bearer.ts'
import {
  createClient,
  getClient,
  listClients,
  removeClient,
  renewSecret,
  requireOAuthServer,
  toClientRecord,
  updateClient,
} from './clients.ts'

const path = '/admin/oauth/clients'
const clientPath = `${path}/:client_id`

/** The fields of a client that administrators and clients can set. */
export const clientFields = {
  redirect_uris: Type.Optional(
    Type.Array(Type.String(), { description: 'From 1 to 10 URLs; http only for localhost' }),
  ),
  grant_types: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Default: authorization_code and refresh_token. /.well-known/oauth-authorization-server lists all',
    }),
  ),
  token_endpoint_auth_method: Type.Optional(
    Type.String({ description: 'client_secret_basic, client_secret_post or none' }),
  ),
  client_name: Type.Optional(Type.String()),
  client_uri: Type.Optional(Type.String()),
  logo_uri: Type.Optional(Type.String()),
  scope: Type.Optional(
    Type.String({
      description: 'The scopes that the client may request, separated by spaces. Default: all',
    }),
  ),
  dpop_bound_access_tokens: Type.Optional(
    Type.Boolean({
      description:
        'Whether the client only gets access tokens that are bound to a key (DPoP). Default: false',
    }),
  ),
}

export const adminListOAuthClients = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Lists the OAuth clients',
  allowed: 'admin',
  query: {
    page: 'Page number, starting at 1',
    per_page: `Clients per page. Default: ${largestPageSize}`,
  },
  success: { status: 200, description: 'clients, newest first, without their secrets' },
  async handle({ query }, services) {
    requireOAuthServer(services)
    const page = parsePage(query, largestPageSize)
    const range = { limit: page.size, offset: page.offset }
    const { clients, total } = await listClients(services, range)
    return json({ clients }, toPageHeaders(path, page, total))
  },
})

export const adminCreateOAuthClient = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Registers an OAuth client',
  allowed: 'admin',
  body: Type.Object({
    ...clientFields,
    client_type: Type.Optional(
      Type.String({ description: 'confidential (the default) or public, which has no secret' }),
    ),
  }),
  success: { status: 201, description: 'The client. Only this response has its client_secret' },
  async handle({ body, adminRole, client }, services) {
    requireOAuthServer(services)
    const created = await createClient(services, body, { adminRole, ip: client.ip })
    return { status: 201, body: created }
  },
})

export const adminGetOAuthClient = defineEndpoint({
  method: 'GET',
  path: clientPath,
  summary: 'Returns an OAuth client',
  allowed: 'admin',
  success: { status: 200, description: 'The client, without its secret' },
  async handle({ params }, services) {
    requireOAuthServer(services)
    return json(toClientRecord(await getClient(services, parseClientId(params))))
  },
})

export const adminUpdateOAuthClient = defineEndpoint({
  method: 'PUT',
  path: clientPath,
  summary: 'Changes an OAuth client. Fields that are not given stay as they are',
  allowed: 'admin',
  body: Type.Object(clientFields),
  success: { status: 200, description: 'The client, without its secret' },
  async handle({ body, params, adminRole, client }, services) {
    requireOAuthServer(services)
    const admin = { adminRole, ip: client.ip }
    return json(await updateClient(services, parseClientId(params), body, admin))
  },
})

export const adminDeleteOAuthClient = defineEndpoint({
  method: 'DELETE',
  path: clientPath,
  summary: 'Removes an OAuth client',
  allowed: 'admin',
  success: { status: 204, description: 'The client was removed' },
  async handle({ params, adminRole, client }, services) {
    requireOAuthServer(services)
    await removeClient(services, parseClientId(params), { adminRole, ip: client.ip })
    return noContent
  },
})

export const adminRenewOAuthClientSecret = defineEndpoint({
  method: 'POST',
  path: `${clientPath}/regenerate_secret`,
  summary: 'Replaces the secret of a confidential OAuth client',
  allowed: 'admin',
  query: {
    overlap_seconds: 'How long the previous secret is still accepted, at most 30 days. Default: 0',
  },
  success: { status: 200, description: 'The client with its new client_secret' },
  async handle({ query, params, adminRole, client }, services) {
    requireOAuthServer(services)
    const admin = { adminRole, ip: client.ip }
    const overlapSeconds = Number(query['overlap_seconds'] ?? 0)
    return json(await renewSecret(services, parseClientId(params), admin, overlapSeconds))
  },
})

/** Reads the client ID from the path. @throws {ApiError} */
function parseClientId(params: Readonly<Record<string, string>>): string {
  const id = params['client_id'] ?? ''
  if (uuidPattern.test(id)) return id.toLowerCase()
  throw invalid('invalid client_id format')
}
