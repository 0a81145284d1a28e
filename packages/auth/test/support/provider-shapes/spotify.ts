import type { ProviderShape } from '../provider-shape.ts'

/** According to the documentation of the Web API, which states that the address is not verified. */
export const spotify: ProviderShape = {
  id: 'spotify',
  authorizePath: '/authorize',
  tokenPath: '/api/token',
  scopes: ['user-read-email'],
  credentials: 'basic',
  api: { '/v1/me': (account) => account },
  example: {
    account: {
      id: 'wizzler',
      display_name: 'Clara Rockmore',
      email: 'clara@spotify.example',
      product: 'premium',
      type: 'user',
      uri: 'spotify:user:wizzler',
      images: [
        { url: 'https://i.scdn.example/unknown', height: null, width: null },
        { url: 'https://i.scdn.example/64', height: 64, width: 64 },
        { url: 'https://i.scdn.example/300', height: 300, width: 300 },
      ],
    },
    identityData: {
      iss: 'URL',
      sub: 'wizzler',
      provider_id: 'wizzler',
      email: 'clara@spotify.example',
      email_verified: false,
      phone_verified: false,
      name: 'Clara Rockmore',
      full_name: 'Clara Rockmore',
      picture: 'https://i.scdn.example/300',
      avatar_url: 'https://i.scdn.example/300',
    },
    unverified: { id: 'wizzler1', email: 'fresh@spotify.example' },
    withoutEmail: { id: 'wizzler2', email: undefined },
    withoutId: { id: undefined },
  },
}
