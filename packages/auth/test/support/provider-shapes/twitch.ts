import assert from 'node:assert/strict'
import type { ProviderShape } from '../provider-shape.ts'

/** The API returns a list with one user and requires the client id in addition to the token. */
export const twitch: ProviderShape = {
  id: 'twitch',
  authorizePath: '/oauth2/authorize',
  tokenPath: '/oauth2/token',
  scopes: ['user:read:email'],
  credentials: 'body',
  tokenFields: () => ({ scope: ['user:read:email'] }),
  api: {
    '/helix/users': (account, { headers }) => {
      assert.equal(headers['client-id'], 'client of twitch')
      return { data: [account] }
    },
  },
  example: {
    account: {
      id: '141981764',
      login: 'adele',
      display_name: 'Adele',
      type: '',
      broadcaster_type: 'partner',
      description: 'Small talk and large boards.',
      profile_image_url: 'https://static-cdn.jtvnw.example/adele-300x300.png',
      offline_image_url: 'https://static-cdn.jtvnw.example/adele-1920x1080.png',
      view_count: 5_980_557,
      email: 'adele@twitch.example',
      created_at: '2016-12-14T20:32:28Z',
    },
    identityData: {
      iss: 'URL',
      sub: '141981764',
      provider_id: '141981764',
      email: 'adele@twitch.example',
      email_verified: true,
      phone_verified: false,
      name: 'adele',
      full_name: 'adele',
      nickname: 'Adele',
      slug: 'Adele',
      picture: 'https://static-cdn.jtvnw.example/adele-300x300.png',
      avatar_url: 'https://static-cdn.jtvnw.example/adele-300x300.png',
      custom_claims: {
        broadcaster_type: 'partner',
        description: 'Small talk and large boards.',
        offline_image_url: 'https://static-cdn.jtvnw.example/adele-1920x1080.png',
        view_count: 5_980_557,
      },
    },
    withoutEmail: { id: '141981765', email: undefined },
    withoutId: { id: undefined },
  },
}
