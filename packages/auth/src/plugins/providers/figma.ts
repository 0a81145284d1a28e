import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrusted, toOneEmail, toProfile } from './oauth/profile-parts.ts'

const trustsEmails = true

export const figma = defineOAuth2({
  trustsEmails,
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
      emails: toOneEmail(user['email'], isTrusted(trustsEmails)),
      name: user['handle'],
      picture: user['img_url'],
    })
  },
})
