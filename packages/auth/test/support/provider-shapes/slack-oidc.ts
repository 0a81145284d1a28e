import type { ProviderShape } from '../provider-shape.ts'
import { slack } from './slack.ts'

/** The profile is that of `slack`, for another user; the flow has other endpoints. */
export const slackOidc: ProviderShape = {
  ...slack,
  id: 'slack_oidc',
  authorizePath: '/openid/connect/authorize',
  tokenPath: '/api/openid.connect.token',
  credentials: 'basic',
  tokenFields: () => ({ ok: true, refresh_token: undefined, token_type: 'Bearer' }),
  denial: { error: 'access_denied' },
  example: {
    account: {
      ...slack.example.account,
      sub: 'U0R7MFMJM',
      'https://slack.com/user_id': 'U0R7MFMJM',
      'https://slack.com/team_id': 'T0R7GR',
      email: 'mary@slack.example',
      name: 'Mary Kenneth Keller',
      picture: 'https://secure.gravatar.example/mary.jpg',
    },
    identityData: {
      iss: 'URL',
      sub: 'U0R7MFMJM',
      provider_id: 'U0R7MFMJM',
      email: 'mary@slack.example',
      email_verified: true,
      phone_verified: false,
      name: 'Mary Kenneth Keller',
      full_name: 'Mary Kenneth Keller',
      picture: 'https://secure.gravatar.example/mary.jpg',
      avatar_url: 'https://secure.gravatar.example/mary.jpg',
      custom_claims: { 'https://slack.com/team_id': 'T0R7GR' },
    },
    unverified: {
      'https://slack.com/user_id': 'U1',
      email: 'fresh@slack-oidc.example',
      email_verified: undefined,
    },
    withoutEmail: { 'https://slack.com/user_id': 'U2', email: undefined },
    withoutId: { 'https://slack.com/user_id': undefined },
  },
}
