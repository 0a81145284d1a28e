import { json } from '../../http/call.ts'
import { defineEndpoint, type Endpoint } from '../../http/endpoint.ts'
import { toOpenApi } from '../../http/openapi.ts'
import {
  type ProviderId,
  providerIds,
  specifiedProviderIds,
} from '../../plugins/providers/index.ts'

export const health = defineEndpoint({
  method: 'GET',
  path: '/health',
  summary: 'Returns 200 if the server is running',
  allowed: 'anyone',
  success: { status: 200, description: 'Version, name and description of the server' },
  handle: async (_call, { version }) =>
    json({ version, name: 'Portcullis Auth', description: 'Authentication and user management' }),
})

export const ready = defineEndpoint({
  method: 'GET',
  path: '/ready',
  summary: 'Returns 200 if the server is ready: checks the database, migrations and outbox',
  allowed: 'anyone',
  answersHead: true,
  success: {
    status: 200,
    description: 'The result of each check. If one fails, the status is 503 with the same body',
  },
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
  summary: 'Returns the public settings of this installation',
  allowed: 'anyone',
  success: { status: 200, description: 'The settings' },
  async handle({ isSdk }, { config }) {
    const { external, site, mail, sms, passkeys, web3, oauthServer, saml } = config
    const isListed = (id: ProviderId) =>
      isSdk || specifiedProviderIds.includes(id) || external[id].enabled
    const enabled = Object.fromEntries(
      providerIds.filter(isListed).map((id) => [id, external[id].enabled]),
    )
    const methods = {
      email: site.emailEnabled,
      phone: site.phoneEnabled,
      anonymous_users: site.anonymousEnabled,
    }
    return json({
      external: isSdk ? { ...enabled, ...methods } : enabled,
      disable_signup: site.disableSignup,
      autoconfirm: mail.autoconfirm,
      mailer_autoconfirm: mail.autoconfirm,
      phone_autoconfirm: sms.autoconfirm,
      sms_provider: sms.provider,
      email_enabled: site.emailEnabled,
      phone_enabled: site.phoneEnabled,
      anonymous_users_enabled: site.anonymousEnabled,
      passkeys_enabled: passkeys.enabled,
      web3_ethereum_enabled: web3.ethereum.enabled,
      web3_solana_enabled: web3.solana.enabled,
      oauth_server_enabled: oauthServer.enabled,
      ...(isSdk && {
        saml_enabled: saml.enabled,
        saml_private_key_next_configured: saml.privateKeyNext !== undefined,
      }),
    })
  },
})

export const jwks = defineEndpoint({
  method: 'GET',
  path: '/.well-known/jwks.json',
  summary: 'Returns the public keys that verify access tokens',
  allowed: 'anyone',
  success: {
    status: 200,
    description: 'A JWK set. It is empty if access tokens are signed with a shared secret',
  },
  handle: async (_call, { signingKeys }) =>
    json({ keys: signingKeys.publicKeys }, { 'cache-control': 'public, max-age=600' }),
})

export function createOpenApi(endpoints: readonly Endpoint[]): Endpoint {
  return defineEndpoint({
    method: 'GET',
    path: '/openapi.json',
    summary: 'Returns this OpenAPI document',
    allowed: 'anyone',
    success: { status: 200, description: 'The OpenAPI 3.1 document' },
    handle: async (_call, { version, config }) =>
      json(toOpenApi(endpoints, version, config.api.externalUrl)),
  })
}
