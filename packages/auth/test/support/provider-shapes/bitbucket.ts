import type { ProviderShape } from '../provider-shape.ts'

const ofExample = (email: string) => ({
  type: 'email',
  email,
  is_primary: true,
  is_confirmed: true,
})

/** According to the documentation of API version 2.0. */
export const bitbucket: ProviderShape = {
  id: 'bitbucket',
  authorizePath: '/site/oauth2/authorize',
  tokenPath: '/site/oauth2/access_token',
  scopes: ['account', 'email'],
  credentials: 'basic',
  api: {
    '/2.0/user': ({ emails: _, ...user }) => user,
    '/2.0/user/emails': ({ emails }) => ({ pagelen: 100, page: 1, values: emails }),
  },
  example: {
    account: {
      type: 'user',
      uuid: '{c423e13e-4541-44f6-b88d-7bfbc2e1a1d5}',
      username: 'barbara',
      display_name: 'Barbara Liskov',
      account_id: '557058:c423e13e',
      links: {
        self: { href: 'https://api.bitbucket.example/2.0/users/barbara' },
        avatar: { href: 'https://avatars.bitbucket.example/barbara/128' },
      },
      emails: [
        { ...ofExample('old@bitbucket.example'), is_primary: false },
        ofExample('Barbara@bitbucket.example'),
        { ...ofExample('new@bitbucket.example'), is_primary: false, is_confirmed: false },
      ],
    },
    identityData: {
      iss: 'URL',
      sub: '{c423e13e-4541-44f6-b88d-7bfbc2e1a1d5}',
      provider_id: '{c423e13e-4541-44f6-b88d-7bfbc2e1a1d5}',
      email: 'barbara@bitbucket.example',
      email_verified: true,
      phone_verified: false,
      name: 'Barbara Liskov',
      full_name: 'Barbara Liskov',
      picture: 'https://avatars.bitbucket.example/barbara/128',
      avatar_url: 'https://avatars.bitbucket.example/barbara/128',
    },
    unverified: {
      uuid: '{1}',
      emails: [{ ...ofExample('fresh@bitbucket.example'), is_confirmed: false }],
    },
    withoutEmail: { uuid: '{2}', emails: [] },
    withoutId: { uuid: undefined },
  },
}
