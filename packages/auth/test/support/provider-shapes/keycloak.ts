import type { ProviderShape } from '../provider-shape.ts'

/** According to responses of a realm with default settings and one additional mapper. */
export const keycloak: ProviderShape = {
  id: 'keycloak',
  basePath: '/realms/main',
  authorizePath: '/protocol/openid-connect/auth',
  tokenPath: '/protocol/openid-connect/token',
  scopes: ['profile', 'email'],
  credentials: 'basic',
  idToken: (account) => ({ ...account, typ: 'ID', azp: 'client of keycloak', acr: '1' }),
  api: { '/protocol/openid-connect/userinfo': (account) => account },
  example: {
    account: {
      sub: 'f1a2c3d4-0000-4000-8000-123456789abc',
      email_verified: true,
      name: 'Ada Lovelace',
      preferred_username: 'ada',
      given_name: 'Ada',
      family_name: 'Lovelace',
      email: 'ada@realm.example',
      department: 'engines',
    },
    identityData: {
      iss: 'URL',
      sub: 'f1a2c3d4-0000-4000-8000-123456789abc',
      provider_id: 'f1a2c3d4-0000-4000-8000-123456789abc',
      email: 'ada@realm.example',
      email_verified: true,
      phone_verified: false,
      name: 'Ada Lovelace',
      full_name: 'Ada Lovelace',
      given_name: 'Ada',
      family_name: 'Lovelace',
      preferred_username: 'ada',
      custom_claims: { department: 'engines' },
    },
    unverified: { sub: 'u1', email: 'fresh@realm.example', email_verified: false },
    withoutEmail: { sub: 'u2', email: undefined },
    withoutId: { sub: undefined },
  },
}
