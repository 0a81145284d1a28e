import type { ProviderShape } from '../provider-shape.ts'

/** According to the documentation of the extensions API. */
export const fly: ProviderShape = {
  id: 'fly',
  authorizePath: '/oauth/authorize',
  tokenPath: '/oauth/token',
  scopes: ['read'],
  credentials: 'body',
  tokenFields: () => ({ scope: 'read', created_at: 1_696_003_692 }),
  api: {
    '/oauth/token/info': (account) => ({ scope: ['read'], expires_in: 7_200, ...account }),
  },
  example: {
    account: {
      resource_owner_id: '4711',
      application: { uid: 'wxDPV5e_M9tfwlNYbBWMNfRGYtfBrPW1h8FfCPmTnVg' },
      created_at: 1_696_003_692,
      user_id: 'x9m8njxk6q2vwl0z',
      user_name: 'Evelyn Boyd Granville',
      email: 'evelyn@fly.example',
      organizations: [{ id: 'qmx9ryn0pd1jvvk6', role: 'admin' }],
    },
    identityData: {
      iss: 'URL',
      sub: 'x9m8njxk6q2vwl0z',
      provider_id: 'x9m8njxk6q2vwl0z',
      email: 'evelyn@fly.example',
      email_verified: true,
      phone_verified: false,
      name: 'Evelyn Boyd Granville',
      full_name: 'Evelyn Boyd Granville',
      custom_claims: {
        resource_owner_id: '4711',
        organizations: [{ id: 'qmx9ryn0pd1jvvk6', role: 'admin' }],
        application: { uid: 'wxDPV5e_M9tfwlNYbBWMNfRGYtfBrPW1h8FfCPmTnVg' },
        scope: ['read'],
        created_at: 1_696_003_692,
      },
    },
    withoutEmail: { user_id: '2', email: undefined },
    withoutId: { user_id: undefined },
  },
}
