import type { ProviderShape } from '../provider-shape.ts'

/**
 * The browser posts the name at the first sign-in only, with an ID token whose booleans are
 * strings.
 */
export const apple: ProviderShape = {
  id: 'apple',
  authorizePath: '/auth/authorize',
  tokenPath: '/auth/token',
  scopes: ['email', 'name'],
  hasFixedScopes: true,
  parameters: { response_mode: 'form_post' },
  credentials: 'body',
  returnsBy: 'form post',
  returnsWith: ({ user }) => (user === undefined ? {} : { user: JSON.stringify(user) }),
  idToken: ({ user: _, ...claims }) => ({ ...claims, nonce_supported: true }),
  api: {},
  example: {
    account: {
      sub: '001473.fe6f83bf4b8e4590aacbabdcb8598bd0.2039',
      email: 'q7x2k9@privaterelay.appleid.example',
      email_verified: 'true',
      is_private_email: 'true',
      auth_time: 1_700_000_000,
      user: {
        name: { firstName: 'Grace', lastName: 'Hopper' },
        email: 'another-user@apple.example',
      },
    },
    identityData: {
      iss: 'URL',
      sub: '001473.fe6f83bf4b8e4590aacbabdcb8598bd0.2039',
      provider_id: '001473.fe6f83bf4b8e4590aacbabdcb8598bd0.2039',
      email: 'q7x2k9@privaterelay.appleid.example',
      email_verified: true,
      phone_verified: false,
      name: 'Grace Hopper',
      full_name: 'Grace Hopper',
      custom_claims: { is_private_email: true, auth_time: 1_700_000_000 },
    },
    // Managed accounts of schools and companies have unverified addresses.
    unverified: { sub: '1.school', email: 'pupil@apple.example', email_verified: 'false' },
    withoutEmail: { sub: '2.no-email', email: undefined, email_verified: undefined },
    withoutId: { sub: undefined },
  },
}
