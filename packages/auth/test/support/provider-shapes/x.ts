import assert from 'node:assert/strict'
import type { ProviderShape } from '../provider-shape.ts'

/** According to the documentation of API version 2. */
export const x: ProviderShape = {
  id: 'x',
  authorizePath: '/i/oauth2/authorize',
  tokenPath: '/2/oauth2/token',
  scopes: ['users.email', 'tweet.read', 'users.read', 'offline.access'],
  requiresPkce: true,
  credentials: 'basic',
  denial: { error: 'access_denied' },
  tokenFields: () => ({ scope: 'users.email tweet.read users.read offline.access' }),
  apiError: (status, detail) => ({
    status,
    body: { title: 'Error', detail, type: 'about:blank', status },
  }),
  api: {
    '/2/users/me': (account, { url }) => {
      // Without these, X returns only id, name and username.
      const fields = (url.searchParams.get('user.fields') ?? '').split(',')
      for (const field of ['confirmed_email', 'profile_image_url', 'url', 'created_at']) {
        assert.ok(fields.includes(field), field)
      }
      return { data: account }
    },
  },
  example: {
    account: {
      id: '2244994945',
      name: 'Jean Sammet',
      username: 'jean_formac',
      confirmed_email: 'jean@x.example',
      profile_image_url: 'https://pbs.twimg.example/profile_images/2/normal.jpg',
      url: 'https://t.example/3ZX3TNiZCY',
      created_at: '2013-12-14T04:35:55.000Z',
    },
    identityData: {
      iss: 'URL',
      sub: '2244994945',
      provider_id: '2244994945',
      email: 'jean@x.example',
      email_verified: true,
      phone_verified: false,
      name: 'Jean Sammet',
      full_name: 'Jean Sammet',
      user_name: 'jean_formac',
      preferred_username: 'jean_formac',
      profile: 'https://x.com/jean_formac',
      website: 'https://t.example/3ZX3TNiZCY',
      picture: 'https://pbs.twimg.example/profile_images/2/normal.jpg',
      avatar_url: 'https://pbs.twimg.example/profile_images/2/normal.jpg',
      custom_claims: { created_at: '2013-12-14T04:35:55.000Z' },
    },
    withoutEmail: { id: '2', confirmed_email: undefined },
    withoutId: { id: undefined },
  },
}
