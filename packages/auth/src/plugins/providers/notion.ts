import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrusted, readAt, toOneEmail, toProfile } from './oauth/profile-parts.ts'

const trustsEmails = true

export const notion = defineOAuth2({
  trustsEmails,
  url: 'https://api.notion.com',
  authorizeUrl: ({ url }) => `${url}/v1/oauth/authorize`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/v1/oauth/token`,
  scopes: [],
  parameters: { owner: 'user' },
  credentials: 'basic',
  async readProfile({ setup: { at }, get }) {
    // The token belongs to a bot; the bot's owner is the user who signed in.
    const bot = await get(`${at.apiUrl}/v1/users/me`, { 'notion-version': '2021-08-16' })
    const user = readAt(bot, 'bot', 'owner', 'user')
    return toProfile({
      id: readAt(user, 'id'),
      issuer: at.apiUrl,
      emails: toOneEmail(readAt(user, 'person', 'email'), isTrusted(trustsEmails)),
      name: readAt(user, 'name'),
      picture: readAt(user, 'avatar_url'),
    })
  },
})
