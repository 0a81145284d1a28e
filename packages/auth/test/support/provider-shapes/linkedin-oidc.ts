import type { ProviderShape } from '../provider-shape.ts'

/** According to the documentation; in ID tokens, `email_verified` is a string. */
export const linkedinOidc: ProviderShape = {
  id: 'linkedin_oidc',
  issuerPath: '/oauth',
  authorizePath: '/oauth/v2/authorization',
  tokenPath: '/oauth/v2/accessToken',
  scopes: ['openid', 'email', 'profile'],
  credentials: 'body',
  denial: {
    error: 'user_cancelled_authorize',
    error_description: 'The user cancelled the authorization',
  },
  tokenFields: () => ({ refresh_token: undefined, scope: 'email,openid,profile' }),
  idToken: (account) => account,
  api: {},
  example: {
    account: {
      sub: '782bbtaQ',
      name: 'Annie Easley',
      given_name: 'Annie',
      family_name: 'Easley',
      picture: 'https://media.licdn.example/annie/100',
      email: 'annie@linkedin.example',
      email_verified: 'true',
      locale: 'en_US',
    },
    identityData: {
      iss: 'API',
      sub: '782bbtaQ',
      provider_id: '782bbtaQ',
      email: 'annie@linkedin.example',
      email_verified: true,
      phone_verified: false,
      name: 'Annie Easley',
      full_name: 'Annie Easley',
      given_name: 'Annie',
      family_name: 'Easley',
      locale: 'en_US',
      picture: 'https://media.licdn.example/annie/100',
      avatar_url: 'https://media.licdn.example/annie/100',
    },
    unverified: { sub: '782bbtaR', email: 'fresh@linkedin.example', email_verified: 'false' },
    withoutEmail: { sub: '782bbtaS', email: undefined, email_verified: undefined },
    withoutId: { sub: undefined },
  },
}
