import { json, noContent } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import type { Services } from '../../../services.ts'
import { toAdministrator } from '../../audit/admin-action.ts'
import { getProvider } from '../../sso/providers.ts'
import { requireServiceProvider } from '../../sso/sign-in.ts'
import { createScimToken, deleteScimToken, listTokens } from '../tokens.ts'

const path = '/admin/sso/providers/:idp_id/scim-tokens'

const requires = (services: Services) => void requireServiceProvider(services)

export const adminListScimTokens = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Lists the SCIM tokens of an SSO provider',
  allowed: 'admin',
  requires,
  success: { status: 200, description: 'items, without the tokens themselves' },
  async handle({ params }, services) {
    const { id: providerId } = await getProvider(services, params['idp_id'] ?? '')
    return json({ items: await listTokens(services, providerId) })
  },
})

export const adminCreateScimToken = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Creates a SCIM token, with which an identity provider manages its users',
  allowed: 'admin',
  requires,
  success: { status: 201, description: 'The token. Only this response has it' },
  async handle(call, services) {
    const { params } = call
    const { id } = await getProvider(services, params['idp_id'] ?? '')
    const body = await createScimToken(services, id, toAdministrator(call))
    return { status: 201, body }
  },
})

export const adminDeleteScimToken = defineEndpoint({
  method: 'DELETE',
  path: `${path}/:token_id`,
  summary: 'Deletes a SCIM token, which is refused from then on',
  allowed: 'admin',
  requires,
  success: { status: 204, description: 'The token is deleted' },
  async handle(call, services) {
    const { params } = call
    const { id } = await getProvider(services, params['idp_id'] ?? '')
    const admin = toAdministrator(call)
    await deleteScimToken(services, id, params['token_id'] ?? '', admin)
    return noContent
  },
})
