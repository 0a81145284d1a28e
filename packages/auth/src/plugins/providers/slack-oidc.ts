import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrue } from './oauth/profile-parts.ts'
import { readSlackProfile } from './slack.ts'

/** Sign in with Slack, which replaces the flow of `slack`. The profile is the same. */
export const slackOidc = defineOAuth2({
  url: 'https://slack.com',
  authorizeUrl: ({ url }) => `${url}/openid/connect/authorize`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/api/openid.connect.token`,
  scopes: ['profile', 'email', 'openid'],
  credentials: 'basic',
  readProfile: (context) => readSlackProfile(context, isTrue),
})
