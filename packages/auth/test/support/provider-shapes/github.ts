import type { ProviderShape } from '../provider-shape.ts'

/** According to the documentation of the REST API; fields that we do not read are omitted. */
export const github: ProviderShape = {
  id: 'github',
  authorizePath: '/login/oauth/authorize',
  tokenPath: '/login/oauth/access_token',
  scopes: ['user:email'],
  credentials: 'body',
  hidesRefusals: true,
  tokenFormat: 'form',
  api: {
    '/api/v3/user': ({ emails: _, ...user }) => user,
    '/api/v3/user/emails': ({ emails }) => emails,
  },
  example: {
    account: {
      login: 'octocat',
      id: 583231,
      avatar_url: 'https://avatars.githubusercontent.com/u/583231?v=4',
      type: 'User',
      name: 'The Octocat',
      company: '@github',
      email: null,
      bio: null,
      emails: [
        { email: 'Octocat@GitHub.example', verified: true, primary: true, visibility: 'private' },
        { email: 'other@github.example', verified: false, primary: false, visibility: null },
      ],
    },
    identityData: {
      iss: 'API',
      sub: '583231',
      provider_id: '583231',
      email: 'octocat@github.example',
      email_verified: true,
      phone_verified: false,
      name: 'The Octocat',
      full_name: 'The Octocat',
      picture: 'https://avatars.githubusercontent.com/u/583231?v=4',
      avatar_url: 'https://avatars.githubusercontent.com/u/583231?v=4',
      user_name: 'octocat',
      preferred_username: 'octocat',
    },
    unverified: {
      id: 583232,
      emails: [{ email: 'fresh@github.example', verified: false, primary: true, visibility: null }],
    },
    withoutEmail: { id: 583233, emails: [] },
    withoutId: { id: undefined },
  },
}
