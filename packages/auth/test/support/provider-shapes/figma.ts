import type { ProviderShape } from '../provider-shape.ts'

/** According to the documentation of the REST API. */
export const figma: ProviderShape = {
  id: 'figma',
  authorizePath: '/oauth',
  tokenPath: '/v1/oauth/token',
  scopes: ['current_user:read'],
  credentials: 'basic',
  tokenFields: () => ({ user_id: 1_012_345_678 }),
  api: { '/v1/me': (account) => account },
  example: {
    account: {
      id: '1012345678901234567',
      email: 'susan@figma.example',
      handle: 'Susan Kare',
      img_url: 'https://s3-alpha.figma.example/profile/1.png',
    },
    identityData: {
      iss: 'URL',
      sub: '1012345678901234567',
      provider_id: '1012345678901234567',
      email: 'susan@figma.example',
      email_verified: true,
      phone_verified: false,
      name: 'Susan Kare',
      full_name: 'Susan Kare',
      picture: 'https://s3-alpha.figma.example/profile/1.png',
      avatar_url: 'https://s3-alpha.figma.example/profile/1.png',
    },
    withoutEmail: { id: '2', email: '' },
    withoutId: { id: undefined },
  },
}
