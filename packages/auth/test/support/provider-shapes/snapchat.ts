import assert from 'node:assert/strict'
import type { ProviderShape } from '../provider-shape.ts'

const scope = 'https://auth.snapchat.com/oauth2/api'

/** The API is GraphQL: all responses have status 200. Most applications get no address. */
export const snapchat: ProviderShape = {
  id: 'snapchat',
  issuerPath: '/accounts/oauth2/token',
  authorizePath: '/accounts/oauth2/auth',
  tokenPath: '/accounts/oauth2/token',
  scopes: [
    `${scope}/user.external_id`,
    `${scope}/user.display_name`,
    `${scope}/user.bitmoji.avatar`,
  ],
  apiError: (_status, message) => ({
    status: 200,
    body: { data: { me: null }, errors: [{ message }] },
  }),
  api: {
    '/v1/me': (me, { url }) => {
      // White space around braces has no meaning in GraphQL.
      const query = url.searchParams.get('query')?.replace(/\s*([{}])\s*/g, '$1')
      assert.equal(query, '{me{externalId displayName bitmoji{avatar id}email}}')
      return { data: { me }, errors: [] }
    },
  },
  example: {
    account: {
      externalId: 'CAESIPiRBp0e5gLDq7VVurQ3rVdmdbqxpOJWynjyBL7xlo0w',
      displayName: 'Joan Ball',
      bitmoji: { avatar: 'https://sdk.bitmoji.example/joan.png', id: 'b5e5e8c4' },
      email: 'joan@snapchat.example',
    },
    identityData: {
      iss: 'API',
      sub: 'CAESIPiRBp0e5gLDq7VVurQ3rVdmdbqxpOJWynjyBL7xlo0w',
      provider_id: 'CAESIPiRBp0e5gLDq7VVurQ3rVdmdbqxpOJWynjyBL7xlo0w',
      email: 'joan@snapchat.example',
      email_verified: false,
      phone_verified: false,
      name: 'Joan Ball',
      full_name: 'Joan Ball',
      slug: 'Joan Ball',
      picture: 'https://sdk.bitmoji.example/joan.png',
      avatar_url: 'https://sdk.bitmoji.example/joan.png',
    },
    unverified: { externalId: 'CAESI1', email: 'fresh@snapchat.example' },
    withoutEmail: { externalId: 'CAESI2', email: undefined },
    withoutId: { externalId: undefined },
  },
}
