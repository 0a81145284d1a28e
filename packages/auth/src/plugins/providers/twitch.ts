import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrusted, readObjects, toOneEmail, toProfile } from './oauth/profile-parts.ts'

const trustsEmails = true

export const twitch = defineOAuth2({
  trustsEmails,
  url: 'https://id.twitch.tv',
  apiUrl: 'https://api.twitch.tv',
  authorizeUrl: ({ url }) => `${url}/oauth2/authorize`,
  tokenUrl: ({ url }) => `${url}/oauth2/token`,
  scopes: ['user:read:email'],
  credentials: 'body',
  async readProfile({ setup: { at, clientIds }, get }) {
    const response = await get(`${at.apiUrl}/helix/users`, { 'client-id': clientIds[0] })
    const [user = {}] = readObjects(response, 'data')
    const { type, broadcaster_type, description, offline_image_url, view_count } = user
    return toProfile({
      id: user['id'],
      issuer: at.apiUrl,
      emails: toOneEmail(user['email'], isTrusted(trustsEmails)),
      name: user['login'],
      picture: user['profile_image_url'],
      more: { nickname: user['display_name'], slug: user['display_name'] },
      custom: { broadcaster_type, description, type, offline_image_url, view_count },
    })
  },
})
