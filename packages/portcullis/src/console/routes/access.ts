import { parseObject } from '../health/index.ts'
import type { AddRoutes, AuthTarget } from '../settings.ts'
import type { AccessAddresses } from './access-items.ts'
import {
  type AdminEndpoint,
  addAdminEndpoints,
  callAsAdmin,
  readJson,
  text,
  yesOrNo,
} from './admin-endpoints.ts'

const texts = { type: 'array', items: text } as const
const anything = { type: 'object' } as const

const clientFields = {
  client_name: text,
  client_uri: text,
  logo_uri: text,
  redirect_uris: texts,
  grant_types: texts,
  token_endpoint_auth_method: text,
  scope: text,
  dpop_bound_access_tokens: yesOrNo,
}

const providerFields = {
  name: text,
  enabled: yesOrNo,
  client_id: text,
  client_secret: text,
  acceptable_client_ids: texts,
  scopes: texts,
  pkce_enabled: yesOrNo,
  email_optional: yesOrNo,
  skip_nonce_check: yesOrNo,
  attribute_mapping: anything,
  custom_claims_allowlist: texts,
  authorization_params: anything,
  issuer: text,
  discovery_url: text,
  authorization_url: text,
  token_url: text,
  userinfo_url: text,
  jwks_uri: text,
}

const ssoFields = {
  metadata_url: text,
  metadata_xml: text,
  domains: texts,
  attribute_mapping: anything,
  name_id_format: text,
  disabled: yesOrNo,
}

const pages = ['page', 'per_page']
const client = '/admin/oauth/clients/:client_id'
const provider = '/admin/custom-providers/:identifier'
const sso = '/admin/sso/providers/:idp_id'
const key = '/admin/api-keys/:key_id'

/** The calls of the Access page. */
const endpoints: readonly AdminEndpoint[] = [
  { method: 'GET', path: '/clients', upstream: '/admin/oauth/clients', query: pages },
  {
    method: 'POST',
    path: '/clients',
    upstream: '/admin/oauth/clients',
    body: { ...clientFields, client_type: text },
  },
  { method: 'GET', path: '/clients/:client_id', upstream: client },
  { method: 'PUT', path: '/clients/:client_id', upstream: client, body: clientFields },
  { method: 'DELETE', path: '/clients/:client_id', upstream: client },
  {
    method: 'POST',
    path: '/clients/:client_id/secret',
    upstream: `${client}/regenerate_secret`,
    query: ['overlap_seconds'],
  },

  { method: 'GET', path: '/providers', upstream: '/admin/custom-providers' },
  {
    method: 'POST',
    path: '/providers',
    upstream: '/admin/custom-providers',
    body: { ...providerFields, provider_type: text, identifier: text },
  },
  { method: 'GET', path: '/providers/:identifier', upstream: provider },
  { method: 'PUT', path: '/providers/:identifier', upstream: provider, body: providerFields },
  { method: 'DELETE', path: '/providers/:identifier', upstream: provider },

  { method: 'GET', path: '/sso', upstream: '/admin/sso/providers' },
  {
    method: 'POST',
    path: '/sso',
    upstream: '/admin/sso/providers',
    body: { ...ssoFields, type: text },
  },
  { method: 'GET', path: '/sso/:idp_id', upstream: sso },
  { method: 'PUT', path: '/sso/:idp_id', upstream: sso, body: ssoFields },
  { method: 'DELETE', path: '/sso/:idp_id', upstream: sso },
  { method: 'GET', path: '/sso/:idp_id/scim-tokens', upstream: `${sso}/scim-tokens` },
  { method: 'POST', path: '/sso/:idp_id/scim-tokens', upstream: `${sso}/scim-tokens` },
  {
    method: 'DELETE',
    path: '/sso/:idp_id/scim-tokens/:token_id',
    upstream: `${sso}/scim-tokens/:token_id`,
  },

  {
    method: 'GET',
    path: '/keys',
    upstream: '/admin/api-keys',
    query: [...pages, 'user_id', 'service_account_id'],
  },
  {
    method: 'POST',
    path: '/keys',
    upstream: '/admin/api-keys',
    body: {
      name: text,
      scopes: texts,
      expires_at: text,
      plan: text,
      user_id: text,
      service_account_id: text,
    },
  },
  {
    method: 'POST',
    path: '/keys/:key_id/rotate',
    upstream: `${key}/rotate`,
    body: { overlap_seconds: { type: 'integer' } },
  },
  { method: 'DELETE', path: '/keys/:key_id', upstream: key },

  { method: 'GET', path: '/service-accounts', upstream: '/admin/service-accounts' },
  {
    method: 'POST',
    path: '/service-accounts',
    upstream: '/admin/service-accounts',
    body: { name: text, role: text, plan: text },
  },
  {
    method: 'DELETE',
    path: '/service-accounts/:service_account_id',
    upstream: '/admin/service-accounts/:service_account_id',
  },
]

const root = '/api/access'

/** The routes of the Access page. */
export const addRoutes: AddRoutes = (server, { auth }) => {
  if (!auth) return
  addAdminEndpoints(server, auth, root, endpoints)
  server.get(`${root}/addresses`, () => readAddresses(auth))
}

/** Derives the addresses from the public URLs in the settings of the auth server. */
async function readAddresses(auth: AuthTarget): Promise<AccessAddresses> {
  const settings = await readSettings(auth)
  const findUrl = (name: string): string => {
    const value = settings(name)
    // A URL that is not set is reported with the description of its default.
    return value !== undefined && URL.canParse(value) ? value : ''
  }
  const base = findUrl('AUTH_API_EXTERNAL_URL') || auth.url
  const toUrl = (name: string, path: string) =>
    `${(findUrl(name) || base).replace(/\/+$/, '')}${path}`
  // Supabase Auth does not have the setting: its providers share a callback.
  const isShared = (settings('AUTH_CUSTOM_OAUTH_SHARED_CALLBACK') ?? 'true') === 'true'
  const callback = isShared ? '/callback' : '/callback/custom:NAME'
  return {
    callback_url: toUrl('AUTH_CUSTOM_OAUTH_EXTERNAL_URL', callback),
    saml_entity_id: toUrl('AUTH_SAML_EXTERNAL_URL', '/sso/saml/metadata'),
    saml_acs_url: toUrl('AUTH_SAML_EXTERNAL_URL', '/sso/saml/acs'),
    scim_url: toUrl('AUTH_API_EXTERNAL_URL', '/scim/v2'),
  }
}

/** Supabase Auth does not report its settings; its public URL is that of the console. */
async function readSettings(auth: AuthTarget): Promise<(name: string) => string | undefined> {
  const answer = await callAsAdmin(auth, { method: 'GET', path: '/admin/settings' })
  const content = await readJson(answer)
  const { settings } = (answer.ok && parseObject(content)) || {}
  const all: readonly { readonly name?: unknown; readonly value?: unknown }[] = Array.isArray(
    settings,
  )
    ? settings
    : []
  return (name) => {
    const value = all.find((setting) => setting.name === name)?.value
    return value === undefined || value === null ? undefined : `${value}`
  }
}
