import { ApiError } from '../../errors.ts'
import { json, noContent } from '../../http/call.ts'
import { defineEndpoint } from '../../http/endpoint.ts'
import { Type } from '../../http/schema.ts'
import type { Services } from '../../services.ts'
import { toAdministrator } from '../audit/admin-action.ts'
import {
  createCustomProvider,
  deleteCustomProvider,
  getCustomProvider,
  listProviders,
  toProviderRecord,
  updateCustomProvider,
} from './custom-providers.ts'

const path = '/admin/custom-providers'
const providerPath = `${path}/:identifier`

/** @throws {ApiError} unless custom providers are enabled. */
function requires({ config }: Pick<Services, 'config'>): void {
  if (config.customOAuth.enabled) return
  throw new ApiError('feature_disabled', 'Custom OAuth providers are disabled')
}

const text = Type.Optional(Type.String())
const flag = Type.Optional(Type.Boolean())
const texts = Type.Optional(Type.Array(Type.String()))

const fields = {
  name: text,
  client_id: text,
  client_secret: Type.Optional(Type.String({ description: 'Never returned' })),
  acceptable_client_ids: Type.Optional(
    Type.Array(Type.String(), { description: 'Further audiences of ID tokens' }),
  ),
  scopes: texts,
  pkce_enabled: flag,
  attribute_mapping: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  custom_claims_allowlist: texts,
  authorization_params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  enabled: flag,
  email_optional: flag,
  issuer: Type.Optional(Type.String({ description: 'oidc: the issuer of ID tokens' })),
  discovery_url: Type.Optional(
    Type.String({ description: 'oidc: the discovery document, if it is not below the issuer' }),
  ),
  skip_nonce_check: flag,
  authorization_url: text,
  token_url: text,
  userinfo_url: text,
  jwks_uri: text,
}

export const adminListCustomProviders = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Lists the custom providers',
  allowed: 'admin',
  requires,
  query: { type: 'oauth2 or oidc. Default: both' },
  success: { status: 200, description: 'providers, newest first, without their secrets' },
  async handle({ query }, services) {
    const rows = await listProviders(services, query['type'] || undefined)
    return json({ providers: rows.map((row) => toProviderRecord(services, row)) })
  },
})

export const adminCreateCustomProvider = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Registers a custom provider, and checks its discovery document',
  allowed: 'admin',
  requires,
  body: Type.Object({
    provider_type: Type.Optional(Type.String({ description: 'oauth2 or oidc' })),
    identifier: Type.Optional(Type.String({ description: 'custom:NAME' })),
    ...fields,
  }),
  success: { status: 201, description: 'The provider, without its secret' },
  async handle(call, services) {
    const { body } = call
    const row = await createCustomProvider(services, body, toAdministrator(call))
    return { status: 201, body: toProviderRecord(services, row) }
  },
})

export const adminGetCustomProvider = defineEndpoint({
  method: 'GET',
  path: providerPath,
  summary: 'Returns a custom provider',
  allowed: 'admin',
  requires,
  success: { status: 200, description: 'The provider, without its secret' },
  async handle({ params }, services) {
    const row = await getCustomProvider(services, params['identifier'] ?? '')
    return json(toProviderRecord(services, row))
  },
})

export const adminUpdateCustomProvider = defineEndpoint({
  method: 'PUT',
  path: providerPath,
  summary: 'Changes a custom provider. Fields that are not given stay as they are',
  allowed: 'admin',
  requires,
  body: Type.Object(fields),
  success: { status: 200, description: 'The provider, without its secret' },
  async handle(call, services) {
    const { body, params } = call
    const admin = toAdministrator(call)
    const name = params['identifier'] ?? ''
    return json(toProviderRecord(services, await updateCustomProvider(services, name, body, admin)))
  },
})

export const adminDeleteCustomProvider = defineEndpoint({
  method: 'DELETE',
  path: providerPath,
  summary: 'Removes a custom provider. Its users keep their accounts',
  allowed: 'admin',
  requires,
  success: { status: 204, description: 'The provider was removed' },
  async handle(call, services) {
    const { params } = call
    const admin = toAdministrator(call)
    await deleteCustomProvider(services, params['identifier'] ?? '', admin)
    return noContent
  },
})
