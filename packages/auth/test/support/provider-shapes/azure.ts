import type { ProviderShape } from '../provider-shape.ts'

const tenant = '6b8b8f3c-1f0a-4c3e-9a53-0d6a4b1f2e70'

/** A tenant with the optional claims `email` and `xms_edov`. */
export const azure: ProviderShape = {
  id: 'azure',
  basePath: `/${tenant}`,
  issuerPath: '/v2.0',
  authorizePath: '/oauth2/v2.0/authorize',
  tokenPath: '/oauth2/v2.0/token',
  scopes: ['openid', 'email', 'profile'],
  idToken: (account) => ({ ...account, ver: '2.0', tid: tenant }),
  api: {},
  example: {
    account: {
      sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
      oid: '00000000-0000-0000-66f3-3332eca7ea81',
      name: 'Edsger Dijkstra',
      preferred_username: 'edsger@contoso.example',
      email: 'edsger@contoso.example',
      xms_edov: true,
    },
    identityData: {
      iss: 'API',
      sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
      provider_id: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
      email: 'edsger@contoso.example',
      email_verified: true,
      phone_verified: false,
      name: 'Edsger Dijkstra',
      full_name: 'Edsger Dijkstra',
      preferred_username: 'edsger@contoso.example',
    },
    unverified: { sub: 'B1', email: 'ceo@contoso.example', xms_edov: false },
    withoutEmail: { sub: 'B2', email: undefined },
    withoutId: { sub: undefined },
  },
}
