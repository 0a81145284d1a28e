import { toIssuer } from '../../../config/oauth-server.ts'
import { proofAlgorithms } from '../../../dpop/proof.ts'
import { ApiError } from '../../../errors.ts'
import { type Call, json } from '../../../http/call.ts'
import { defineEndpoint } from '../../../http/endpoint.ts'
import type { Services } from '../../../services.ts'
import { requireOAuthServer } from '../../oauth-clients/clients.ts'
import { grants } from '../grants/index.ts'
import { listScopes } from '../requested-access.ts'

const cached = { 'cache-control': 'public, max-age=600' }

export const openIdConfiguration = defineEndpoint({
  method: 'GET',
  path: '/.well-known/openid-configuration',
  summary: 'Returns the issuer of access tokens, the URL of their keys, and the OAuth endpoints',
  allowed: 'anyone',
  success: { status: 200, description: 'A document of OpenID Connect Discovery' },
  handle: async (_call, services) => json(toMetadata(services), cached),
})

export const authorizationServerMetadata = defineEndpoint({
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  summary: 'Returns the endpoints and the abilities of the OAuth server',
  allowed: 'anyone',
  success: { status: 200, description: 'Authorization server metadata (RFC 8414)' },
  async handle(_call, services) {
    requireOAuthServer(services)
    return json(toMetadata(services), cached)
  },
})

/** RFC 8414, section 3.1: the path of the issuer comes last, at the root of its host. */
export const authorizationServerMetadataOfPath = defineEndpoint({
  method: 'GET',
  path: '/.well-known/oauth-authorization-server/*',
  summary: 'The same for an issuer with a path, which follows at the end (RFC 8414, section 3.1)',
  allowed: 'anyone',
  success: { status: 200, description: 'Authorization server metadata (RFC 8414)' },
  async handle({ params }, services) {
    requireOAuthServer(services)
    requireIssuerPath(params, services)
    return json(toMetadata(services), cached)
  },
})

/** RFC 8414, section 5: clients that transform the address look for this document there as well. */
export const openIdConfigurationOfPath = defineEndpoint({
  method: 'GET',
  path: '/.well-known/openid-configuration/*',
  summary:
    'The document of OpenID Connect for an issuer with a path, which follows at the end (RFC 8414, section 5)',
  allowed: 'anyone',
  success: { status: 200, description: 'A document of OpenID Connect Discovery' },
  async handle({ params }, services) {
    requireIssuerPath(params, services)
    return json(toMetadata(services), cached)
  },
})

/** @throws {ApiError} */
function requireIssuerPath({ '*': path = '' }: Call['params'], { config }: Services): void {
  const issuer = URL.parse(toIssuer(config))
  if (path !== '' && issuer?.pathname.replace(/\/+$/, '') === `/${path.replace(/\/+$/, '')}`) return
  throw new ApiError('route_not_found', 'No issuer of this server has this path')
}

/** Names only endpoints that exist: with the OAuth server disabled, only the keys. */
function toMetadata(services: Services) {
  const { config, signingKeys } = services
  const { externalUrl } = config.api
  const { publicKeys, signing } = signingKeys
  const isEnabled = config.oauthServer.enabled
  return {
    issuer: toIssuer(config),
    jwks_uri: `${externalUrl}/.well-known/jwks.json`,
    ...(isEnabled && toOAuthMetadata(services)),
    id_token_signing_alg_values_supported: [
      ...new Set([signing.algorithm, ...publicKeys.map(({ alg }) => alg)]),
    ].filter((algorithm) => !isEnabled || algorithm !== 'HS256'),
    response_types_supported: isEnabled ? ['code'] : [],
    subject_types_supported: ['public'],
    claims_supported: [
      ...['sub', 'aud', 'iss', 'exp', 'iat', 'email', 'phone', 'role', 'app_metadata'],
      ...['user_metadata', 'aal', 'amr', 'session_id', 'is_anonymous'],
      ...(isEnabled ? idTokenClaims : []),
    ],
  }
}

const idTokenClaims = [
  ...['auth_time', 'nonce', 'acr', 'at_hash', 'sid', 'email_verified', 'phone_number'],
  ...['phone_number_verified', 'name', 'picture', 'preferred_username', 'updated_at'],
]

function toOAuthMetadata(services: Services) {
  const { externalUrl } = services.config.api
  const methods = ['client_secret_basic', 'client_secret_post', 'none']
  return {
    authorization_endpoint: `${externalUrl}/oauth/authorize`,
    token_endpoint: `${externalUrl}/oauth/token`,
    userinfo_endpoint: `${externalUrl}/oauth/userinfo`,
    revocation_endpoint: `${externalUrl}/oauth/revoke`,
    introspection_endpoint: `${externalUrl}/oauth/introspect`,
    pushed_authorization_request_endpoint: `${externalUrl}/oauth/par`,
    device_authorization_endpoint: `${externalUrl}/oauth/device_authorization`,
    client_id_metadata_document_supported: services.config.oauthServer.allowClientDocuments,
    ...(services.config.oauthServer.allowDynamicRegistration && {
      registration_endpoint: `${externalUrl}/oauth/clients/register`,
    }),
    scopes_supported: listScopes(services),
    response_modes_supported: ['query'],
    grant_types_supported: grants.map(({ name }) => name),
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods.filter((method) => method !== 'none'),
    code_challenge_methods_supported: ['S256'],
    acr_values_supported: ['aal1', 'aal2'],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    dpop_signing_alg_values_supported: proofAlgorithms,
    authorization_response_iss_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    require_pushed_authorization_requests: false,
    claims_parameter_supported: false,
  }
}
