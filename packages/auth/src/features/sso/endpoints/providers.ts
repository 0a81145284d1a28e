import { json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import { Type } from '../../../http/schema.ts'
import type { Services } from '../../../services.ts'
import { toAdministrator } from '../../audit/admin-action.ts'
import {
  createProvider,
  getProvider,
  listProviders,
  removeProvider,
  toProviderRecord,
  updateProvider,
} from '../providers.ts'
import { requireServiceProvider } from '../sign-in.ts'

const path = '/admin/sso/providers'
const providerPath = `${path}/:idp_id`

const requires = (services: Services) => void requireServiceProvider(services)

const fields = {
  metadata_url: Type.Optional(
    Type.String({ description: 'https URL from which the metadata is read now and daily' }),
  ),
  metadata_xml: Type.Optional(Type.String({ description: 'The metadata, instead of a URL' })),
  domains: Type.Optional(
    Type.Array(Type.String(), { description: 'Email domains whose users sign in here' }),
  ),
  attribute_mapping: Type.Optional(
    Type.Unknown({ description: '{"keys": {CLAIM: {"name" or "names", "default", "array"}}}' }),
  ),
  name_id_format: Type.Optional(Type.String({ description: 'Default: persistent' })),
  resource_id: Type.Optional(
    Type.String({ description: 'A name for the provider: resource_NAME can replace its ID' }),
  ),
  disabled: Type.Optional(Type.Boolean({ description: 'Whether users cannot sign in with it' })),
}

export const adminListSsoProviders = defineEndpoint({
  method: 'GET',
  path,
  summary: 'Lists the SSO identity providers',
  allowed: 'admin',
  requires,
  query: {
    resource_id: 'Only the provider with this resource_id',
    resource_id_prefix: 'Only providers whose resource_id begins with this text',
  },
  success: { status: 200, description: 'items, oldest first, without their metadata' },
  async handle({ query }, services) {
    const { resource_id: resourceId = '', resource_id_prefix: prefix = '' } = query
    const rows = await listProviders(services, { resourceId, prefix })
    return json({ items: rows.map((row) => toProviderRecord(row, false)) })
  },
})

export const adminCreateSsoProvider = defineEndpoint({
  method: 'POST',
  path,
  summary: 'Adds a SAML identity provider',
  allowed: 'admin',
  requires,
  body: Type.Object({
    ...fields,
    type: Type.Optional(Type.String({ description: 'saml' })),
    id: Type.Optional(
      Type.String({ description: 'ID of the same provider in Supabase Auth. Default: a new one' }),
    ),
  }),
  success: { status: 201, description: 'The provider' },
  async handle(call, services) {
    const { body } = call
    const created = await createProvider(services, body, toAdministrator(call))
    return { status: 201, body: toProviderRecord(created) }
  },
})

export const adminGetSsoProvider = defineEndpoint({
  method: 'GET',
  path: providerPath,
  summary: 'Returns an SSO identity provider',
  allowed: 'admin',
  requires,
  success: { status: 200, description: 'The provider' },
  async handle({ params }, services) {
    return json(toProviderRecord(await getProvider(services, params['idp_id'] ?? '')))
  },
})

export const adminUpdateSsoProvider = defineEndpoint({
  method: 'PUT',
  path: providerPath,
  summary: 'Changes an SSO identity provider. Fields that are not given stay as they are',
  allowed: 'admin',
  requires,
  body: Type.Object(fields),
  success: { status: 200, description: 'The provider' },
  async handle(call, services) {
    const { body, params } = call
    const admin = toAdministrator(call)
    const changed = await updateProvider(services, params['idp_id'] ?? '', body, admin)
    return json(toProviderRecord(changed))
  },
})

export const adminDeleteSsoProvider = defineEndpoint({
  method: 'DELETE',
  path: providerPath,
  summary: 'Removes an SSO identity provider. Its users stay, but can no longer sign in with it',
  allowed: 'admin',
  requires,
  success: { status: 200, description: 'The removed provider' },
  async handle(call, services) {
    const { params } = call
    const admin = toAdministrator(call)
    return json(toProviderRecord(await removeProvider(services, params['idp_id'] ?? '', admin)))
  },
})
