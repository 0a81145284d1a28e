import type { ProviderShape } from '../provider-shape.ts'

/** A user with a unique name and therefore without a discriminator. */
export const discord: ProviderShape = {
  id: 'discord',
  authorizePath: '/api/oauth2/authorize',
  tokenPath: '/api/oauth2/token',
  scopes: ['email', 'identify'],
  api: { '/api/users/@me': (account) => account },
  example: {
    account: {
      id: '80351110224678912',
      username: 'nelly',
      discriminator: '0',
      global_name: 'Nelly the Elephant',
      avatar: 'a_8342729096ea3675442027381ff50dfe',
      verified: true,
      email: 'nelly@discord.example',
      flags: 64,
      premium_type: 1,
    },
    identityData: {
      iss: 'URL',
      sub: '80351110224678912',
      provider_id: '80351110224678912',
      email: 'nelly@discord.example',
      email_verified: true,
      phone_verified: false,
      name: 'nelly',
      full_name: 'nelly',
      picture:
        'https://cdn.discordapp.com/avatars/80351110224678912/a_8342729096ea3675442027381ff50dfe.gif',
      avatar_url:
        'https://cdn.discordapp.com/avatars/80351110224678912/a_8342729096ea3675442027381ff50dfe.gif',
      custom_claims: { global_name: 'Nelly the Elephant' },
    },
    unverified: { id: '80351110224678913', email: 'fresh@discord.example', verified: false },
    withoutEmail: { id: '80351110224678914', email: null, verified: false },
    withoutId: { id: undefined },
  },
}
