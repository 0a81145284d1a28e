import assert from 'node:assert/strict'
import type { ProviderShape } from '../provider-shape.ts'

/** An OAuth 1.0a provider, served by `oauth1-server.ts`. */
export const twitter: ProviderShape = {
  id: 'twitter',
  requestTokenPath: '/oauth/request_token',
  authorizePath: '/oauth/authenticate',
  tokenPath: '/oauth/access_token',
  scopes: [],
  denial: { error: 'access_denied' },
  api: {
    '/1.1/account/verify_credentials.json': (account, { url }) => {
      assert.deepEqual(Object.fromEntries(url.searchParams), {
        include_entities: 'false',
        skip_status: 'true',
        include_email: 'true',
      })
      return account
    },
  },
  example: {
    account: {
      // The number has lost its last digits, because it exceeds the safe integer range.
      id: Number('1599999999999999991'),
      id_str: '1599999999999999991',
      name: 'Rear Admiral',
      screen_name: 'amazing_grace',
      verified: true,
      profile_image_url_https: 'https://pbs.twimg.example/profile_images/1/normal.jpg',
      email: 'admiral@twitter.example',
    },
    identityData: {
      iss: 'URL',
      sub: '1599999999999999991',
      provider_id: '1599999999999999991',
      email: 'admiral@twitter.example',
      email_verified: true,
      phone_verified: false,
      name: 'Rear Admiral',
      full_name: 'Rear Admiral',
      picture: 'https://pbs.twimg.example/profile_images/1/normal.jpg',
      avatar_url: 'https://pbs.twimg.example/profile_images/1/normal.jpg',
      user_name: 'amazing_grace',
      preferred_username: 'amazing_grace',
    },
    // This account uses a phone number.
    withoutEmail: { id_str: '2', email: '' },
    withoutId: { id: undefined, id_str: undefined },
  },
}
