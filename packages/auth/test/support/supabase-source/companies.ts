import { createHash, randomUUID } from 'node:crypto'
import { createIdentityProvider } from '../saml/identity-provider.ts'
import { acsUrl, entityId } from '../saml/sso-server.ts'
import { earlier, type SourceWriter } from './source-writer.ts'

/** One identity provider for all sources, because creating its key is expensive. */
const idp = createIdentityProvider(acsUrl, entityId, 'https://idp.example/of-the-source')
const times = { created_at: earlier(600), updated_at: earlier(500) }

/** Adds a company whose users sign in with SAML, and one of its users. */
export async function addCompany(writer: SourceWriter) {
  const id = randomUUID()
  await writer.insert('sso_providers', { id, resource_id: 'Acme', ...times })
  await writer.insert('saml_providers', {
    id: randomUUID(),
    sso_provider_id: id,
    entity_id: idp.entityId,
    metadata_xml: idp.metadata(),
    attribute_mapping: { keys: { full_name: { name: 'displayName' } } },
    ...times,
  })
  const addDomain = (domain: string) =>
    writer.insert('sso_domains', { id: randomUUID(), sso_provider_id: id, domain, ...times })
  await addDomain('Acme.example')
  await addDomain('acme.test')
  await writer.insert('saml_relay_states', {
    id: randomUUID(),
    sso_provider_id: id,
    request_id: 'id-of-a-request',
  })
  const provider = `sso:${id}`
  // The address belongs to another user, too, which is allowed for users of a company.
  const userId = await writer.user({
    email: 'ada@source.example',
    is_sso_user: true,
    email_confirmed_at: earlier(590),
    raw_app_meta_data: { provider, providers: [provider] },
  })
  await writer.insert('identities', {
    user_id: userId,
    provider,
    provider_id: 'ada at the company',
    identity_data: { sub: 'ada at the company', email: 'ada@source.example' },
    ...times,
  })
  const sessionId = await writer.session(userId, {}, ['sso/saml'])
  const tokens = await writer.storedTokens(userId, sessionId, 1)
  return { id, idp, userId, nameId: 'ada at the company', tokens, addDomain }
}

/** Adds a provider that an administrator has registered, and one of its users. */
export async function addCustomProvider(writer: SourceWriter) {
  const id = randomUUID()
  const identifier = 'custom:acme'
  const secret = 'the secret at the provider'
  await writer.insert('custom_oauth_providers', {
    id,
    provider_type: 'oidc',
    identifier,
    name: 'Acme',
    client_id: 'client at the provider',
    client_secret: secret,
    acceptable_client_ids: ['client of the app'],
    scopes: ['openid', 'profile', 'email'],
    attribute_mapping: { name: 'display_name' },
    authorization_params: { prompt: 'login' },
    custom_claims_allowlist: ['department'],
    issuer: 'https://idp.acme.example',
    cached_discovery: { issuer: 'https://idp.acme.example' },
    discovery_cached_at: earlier(10),
    ...times,
  })
  const userId = await writer.user({
    email: 'carl@source.example',
    email_confirmed_at: earlier(590),
    raw_app_meta_data: { provider: identifier, providers: [identifier] },
  })
  await writer.insert('identities', {
    user_id: userId,
    provider: identifier,
    provider_id: 'carl at the provider',
    identity_data: { sub: 'carl at the provider', email: 'carl@source.example' },
    ...times,
  })
  return { id, identifier, secret, userId, providerId: 'carl at the provider' }
}

/** Adds an OAuth client, what a user has granted to it, and its session. */
export async function addOAuthClient(writer: SourceWriter, userId: string) {
  const clientId = randomUUID()
  const secret = 'the secret of the client'
  await writer.insert('oauth_clients', {
    id: clientId,
    registration_type: 'manual',
    redirect_uris: 'https://client.example/callback',
    grant_types: 'authorization_code,refresh_token',
    token_endpoint_auth_method: 'client_secret_basic',
    client_secret_hash: createHash('sha256').update(secret).digest('base64url'),
    client_name: 'Notes',
    ...times,
  })
  const consentId = randomUUID()
  await writer.insert('oauth_consents', {
    id: consentId,
    user_id: userId,
    client_id: clientId,
    scopes: 'email profile',
    granted_at: earlier(400),
  })
  const row = { oauth_client_id: clientId, scopes: 'email profile' }
  const sessionId = await writer.session(userId, row, ['password'])
  const tokens = await writer.storedTokens(userId, sessionId, 1)
  return { clientId, secret, consentId, sessionId, tokens }
}
