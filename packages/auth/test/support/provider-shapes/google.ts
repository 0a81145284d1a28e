import type { ProviderShape } from '../provider-shape.ts'

/** According to the OpenID Connect documentation of Google. */
export const google: ProviderShape = {
  id: 'google',
  authorizePath: '/o/oauth2/v2/auth',
  tokenPath: '/token',
  scopes: ['email', 'profile'],
  idToken: (account) => account,
  api: {
    '/userinfo/v2/me': ({ sub, email_verified, ...rest }) => ({
      ...rest,
      id: sub,
      verified_email: email_verified,
    }),
  },
  example: {
    account: {
      sub: '110169484474386276334',
      email: 'jsmith@workspace.example',
      email_verified: true,
      hd: 'workspace.example',
      name: 'Jane Smith',
      given_name: 'Jane',
      family_name: 'Smith',
      picture: 'https://lh3.googleusercontent.com/a/picture=s96-c',
    },
    identityData: {
      iss: 'URL',
      sub: '110169484474386276334',
      provider_id: '110169484474386276334',
      email: 'jsmith@workspace.example',
      email_verified: true,
      phone_verified: false,
      name: 'Jane Smith',
      full_name: 'Jane Smith',
      given_name: 'Jane',
      family_name: 'Smith',
      picture: 'https://lh3.googleusercontent.com/a/picture=s96-c',
      avatar_url: 'https://lh3.googleusercontent.com/a/picture=s96-c',
      custom_claims: { hd: 'workspace.example' },
    },
    unverified: { sub: '1', email: 'fresh@workspace.example', email_verified: false },
    withoutEmail: { sub: '2', email: undefined },
    withoutId: { sub: undefined },
  },
}
