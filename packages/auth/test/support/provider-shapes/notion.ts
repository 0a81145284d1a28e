import assert from 'node:assert/strict'
import type { ProviderShape } from '../provider-shape.ts'

/** The token belongs to a bot, and the user is the owner of that bot. */
export const notion: ProviderShape = {
  id: 'notion',
  authorizePath: '/v1/oauth/authorize',
  tokenPath: '/v1/oauth/token',
  scopes: [],
  parameters: { owner: 'user' },
  credentials: 'basic',
  tokenFields: ({ id }) => ({ bot_id: 'b0', workspace_name: 'Ours', owner: { user: { id } } }),
  api: {
    '/v1/users/me': (user, { headers }) => {
      assert.equal(headers['notion-version'], '2021-08-16')
      const owner = { type: 'user', user }
      return {
        object: 'user',
        id: 'b0',
        type: 'bot',
        name: 'Bot',
        avatar_url: null,
        bot: { owner },
      }
    },
  },
  example: {
    account: {
      object: 'user',
      id: '5389a034-eb5c-47b5-8a9e-f79c99ef166c',
      name: 'Joan Clarke',
      avatar_url: 'https://lh3.notion.example/joan.jpg',
      type: 'person',
      person: { email: 'joan@notion.example' },
    },
    identityData: {
      iss: 'URL',
      sub: '5389a034-eb5c-47b5-8a9e-f79c99ef166c',
      provider_id: '5389a034-eb5c-47b5-8a9e-f79c99ef166c',
      email: 'joan@notion.example',
      email_verified: true,
      phone_verified: false,
      name: 'Joan Clarke',
      full_name: 'Joan Clarke',
      picture: 'https://lh3.notion.example/joan.jpg',
      avatar_url: 'https://lh3.notion.example/joan.jpg',
    },
    withoutEmail: { id: '2', person: {} },
    withoutId: { id: undefined },
  },
}
