import { isTrusted } from './email-trust.ts'
import { defineOAuth2 } from './oauth2.ts'
import { toOneEmail, toProfile } from './provider.ts'

export const figma = defineOAuth2({
  url: 'https://www.figma.com',
  apiUrl: 'https://api.figma.com',
  authorizeUrl: ({ url }) => `${url}/oauth`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/v1/oauth/token`,
  scopes: ['current_user:read'],
  credentials: 'basic',
  async readProfile({ setup: { at }, get }) {
    const user = await get(`${at.apiUrl}/v1/me`)
    return toProfile({
      id: user['id'],
      issuer: at.apiUrl,
      emails: toOneEmail(user['email'], isTrusted('figma')),
      name: user['handle'],
      picture: user['img_url'],
    })
  },
})
