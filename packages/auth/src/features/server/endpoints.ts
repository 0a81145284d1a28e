import { ApiError, type ErrorCode } from '../../errors.ts'
import { json } from '../../http/call.ts'
import { defineEndpoint, type Endpoint } from '../../http/endpoint.ts'
import { toOpenApi } from '../../http/openapi.ts'
import { providerIds } from '../../plugins/providers/index.ts'

export const health = defineEndpoint({
  method: 'GET',
  path: '/health',
  summary: 'Whether the server is there',
  allowed: 'anyone',
  success: { status: 200, description: 'Version, name and description of the server' },
  handle: async (_call, { version }) =>
    json({ version, name: 'Portcullis Auth', description: 'Authentication and user management' }),
})

export const ready = defineEndpoint({
  method: 'GET',
  path: '/ready',
  summary: 'Whether the server can serve: database, migrations, outbox',
  allowed: 'anyone',
  answersHead: true,
  success: { status: 200, description: 'What was checked; 503 with the same where a check fails' },
  async handle(_call, { readiness }) {
    const { isReady, checks } = await readiness.check()
    return {
      status: isReady ? 200 : 503,
      body: { status: isReady ? 'ready' : 'not ready', checks },
      headers: { 'cache-control': 'no-store' },
    }
  },
})

export const settings = defineEndpoint({
  method: 'GET',
  path: '/settings',
  summary: 'What this installation allows',
  allowed: 'anyone',
  success: { status: 200, description: 'Settings that everybody may know' },
  async handle(_call, { config: { external, site, mail, sms, passkeys } }) {
    return json({
      external: Object.fromEntries(providerIds.map((id) => [id, external[id].enabled])),
      disable_signup: site.disableSignup,
      autoconfirm: mail.autoconfirm,
      mailer_autoconfirm: mail.autoconfirm,
      phone_autoconfirm: sms.autoconfirm,
      sms_provider: sms.provider,
      email_enabled: site.emailEnabled,
      phone_enabled: site.phoneEnabled,
      anonymous_users_enabled: site.anonymousEnabled,
      passkeys_enabled: passkeys.enabled,
    })
  },
})

export const jwks = defineEndpoint({
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'The public keys that verify access tokens',
  allowed: 'anyone',
  success: { status: 200, description: 'A JWK set; without keys where a secret signs' },
  handle: async (_call, { signingKeys }) =>
    json({ keys: signingKeys.publicKeys }, { 'cache-control': 'public, max-age=600' }),
})

export function createOpenApi(endpoints: readonly Endpoint[]): Endpoint {
  return defineEndpoint({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description',
    allowed: 'anyone',
    success: { status: 200, description: 'The API in OpenAPI 3.1' },
    handle: async (_call, { version, config }) =>
      json(toOpenApi(endpoints, version, config.api.externalUrl)),
  })
}

type Route = Pick<Endpoint, 'method' | 'path'>

/**
 * Features that today's client knows and this server does not have. They answer as a server does
 * that has them switched off, which the client can tell from a wrong address.
 */
function close(
  code: ErrorCode,
  message: string,
  summary: string,
  ...routes: readonly Route[]
): readonly Endpoint[] {
  return routes.map((route) =>
    defineEndpoint({
      ...route,
      summary,
      allowed: 'anyone',
      success: { status: 404, description: `Never: ${message}` },
      handle() {
        return Promise.reject(new ApiError(code, message, { status: 404 }))
      },
    }),
  )
}

const saml = close(
  'saml_provider_disabled',
  'SAML 2.0 is disabled',
  'Single sign-on with SAML, which is not part of this server',
  { method: 'POST', path: '/sso' },
  { method: 'GET', path: '/sso/saml/metadata' },
  { method: 'POST', path: '/sso/saml/acs' },
  { method: 'GET', path: '/admin/sso/providers' },
  { method: 'POST', path: '/admin/sso/providers' },
)

const oauthServer = close(
  'feature_disabled',
  'OAuth server is disabled',
  'This server as a provider for other sites, which it is not',
  { method: 'GET', path: '/oauth/authorize' },
  { method: 'GET', path: '/oauth/authorizations/:authorization_id' },
  { method: 'POST', path: '/oauth/authorizations/:authorization_id/consent' },
  { method: 'GET', path: '/user/oauth/grants' },
  { method: 'DELETE', path: '/user/oauth/grants' },
  { method: 'GET', path: '/admin/oauth/clients' },
  { method: 'POST', path: '/admin/oauth/clients' },
)

const customProviders = close(
  'feature_disabled',
  'Custom OAuth providers are disabled',
  'Providers that an administrator describes, which are not part of this server',
  { method: 'GET', path: '/admin/custom-providers' },
  { method: 'POST', path: '/admin/custom-providers' },
)

export const closedFeatures: readonly Endpoint[] = [...saml, ...oauthServer, ...customProviders]
