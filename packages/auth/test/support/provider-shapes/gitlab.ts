import type { ProviderShape } from '../provider-shape.ts'

/** According to the documentation of API version 4, for an installation below a path. */
export const gitlab: ProviderShape = {
  id: 'gitlab',
  basePath: '/gitlab',
  authorizePath: '/oauth/authorize',
  tokenPath: '/oauth/token',
  scopes: ['read_user'],
  api: {
    '/api/v4/user': ({ emails: _, ...user }) => user,
    '/api/v4/user/emails': ({ emails }) => emails,
  },
  example: {
    account: {
      id: 1234,
      username: 'margaret',
      name: 'Margaret Hamilton',
      state: 'active',
      avatar_url: 'https://gitlab.example/uploads/user/avatar/1/margaret.png',
      email: 'margaret@gitlab.example',
      confirmed_at: '2012-05-23T09:05:22.000Z',
      emails: [
        { id: 1, email: 'margaret@gitlab.example', confirmed_at: '2012-05-23T09:05:22.000Z' },
        { id: 3, email: 'other@gitlab.example', confirmed_at: '2021-03-26T19:07:56.248Z' },
      ],
    },
    identityData: {
      iss: 'URL',
      sub: '1234',
      provider_id: '1234',
      email: 'margaret@gitlab.example',
      email_verified: true,
      phone_verified: false,
      name: 'Margaret Hamilton',
      full_name: 'Margaret Hamilton',
      picture: 'https://gitlab.example/uploads/user/avatar/1/margaret.png',
      avatar_url: 'https://gitlab.example/uploads/user/avatar/1/margaret.png',
    },
    unverified: { id: 1235, email: 'fresh@gitlab.example', confirmed_at: null, emails: [] },
    withoutEmail: { id: 1236, email: null, emails: [] },
    withoutId: { id: undefined },
  },
}
