import type { ProviderShape } from '../provider-shape.ts'

/** The claims of an ID token that an integration gets. */
export const vercelMarketplace: ProviderShape = {
  id: 'vercel_marketplace',
  authorizePath: '/oauth/v2/authorization',
  tokenPath: '/oauth/v2/accessToken',
  scopes: [],
  credentials: 'body',
  tokenFields: () => ({ refresh_token: undefined }),
  idToken: (account) => account,
  api: {},
  example: {
    account: {
      sub: 'account:5d9f2ebd38dd:user:a3f1c9d2e4b5',
      account_id: '5d9f2ebd38dd',
      user_id: 'a3f1c9d2e4b5',
      user_role: 'ADMIN',
      installation_id: 'icfg_9bceb8ccT32d3U417ezb5c8p',
      global_user_id: '0f8fad5bd9cb469fa165',
      user_email: 'lynn@vercel.example',
      user_name: 'Lynn Conway',
      user_avatar_url: 'https://vercel.example/api/www/avatar/lynn',
    },
    identityData: {
      iss: 'URL',
      sub: 'global_user_id:0f8fad5bd9cb469fa165',
      provider_id: 'global_user_id:0f8fad5bd9cb469fa165',
      email: 'lynn@vercel.example',
      email_verified: true,
      phone_verified: false,
      name: 'Lynn Conway',
      full_name: 'Lynn Conway',
      picture: 'https://vercel.example/api/www/avatar/lynn',
      avatar_url: 'https://vercel.example/api/www/avatar/lynn',
    },
    withoutEmail: { global_user_id: '2', user_email: undefined },
    withoutId: { sub: undefined, global_user_id: undefined },
  },
}
