import type { ProviderShape } from '../provider-shape.ts'

/** All responses have status 200 and a field `ok`. */
export const slack: ProviderShape = {
  id: 'slack',
  authorizePath: '/oauth/authorize',
  tokenPath: '/api/oauth.access',
  scopes: ['profile', 'email', 'openid'],
  hidesRefusals: true,
  refusalFields: { ok: false },
  tokenFields: () => ({ ok: true, refresh_token: undefined, team_id: 'T0R7GR' }),
  api: { '/api/openid.connect.userInfo': (account) => ({ ok: true, ...account }) },
  example: {
    account: {
      sub: 'U0R7JM',
      'https://slack.com/user_id': 'U0R7JM',
      'https://slack.com/team_id': 'T0R7GR',
      email: 'radia@slack.example',
      email_verified: true,
      date_email_verified: 1_622_128_723,
      name: 'Radia Perlman',
      picture: 'https://secure.gravatar.example/radia.jpg',
      given_name: 'Radia',
      family_name: 'Perlman',
      locale: 'en-US',
      'https://slack.com/team_name': 'bridges',
    },
    identityData: {
      iss: 'URL',
      sub: 'U0R7JM',
      provider_id: 'U0R7JM',
      email: 'radia@slack.example',
      email_verified: true,
      phone_verified: false,
      name: 'Radia Perlman',
      full_name: 'Radia Perlman',
      picture: 'https://secure.gravatar.example/radia.jpg',
      avatar_url: 'https://secure.gravatar.example/radia.jpg',
      custom_claims: { 'https://slack.com/team_id': 'T0R7GR' },
    },
    unverified: {
      'https://slack.com/user_id': 'U1',
      email: 'fresh@slack.example',
      email_verified: false,
    },
    withoutEmail: { 'https://slack.com/user_id': 'U2', email: undefined },
    withoutId: { 'https://slack.com/user_id': undefined },
  },
}
