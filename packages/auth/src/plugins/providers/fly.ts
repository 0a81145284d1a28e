import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrusted, toOneEmail, toProfile } from './oauth/profile-parts.ts'

const trustsEmails = true

/** For extensions of Fly.io: the token describes the user and the organizations of the user. */
export const fly = defineOAuth2({
  trustsEmails,
  url: 'https://api.fly.io',
  authorizeUrl: ({ url }) => `${url}/oauth/authorize`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/oauth/token`,
  scopes: ['read'],
  credentials: 'body',
  async readProfile({ setup: { at }, get }) {
    const token = await get(`${at.apiUrl}/oauth/token/info`)
    const { resource_owner_id, organizations, application, scope, created_at } = token
    return toProfile({
      id: token['user_id'],
      issuer: at.apiUrl,
      emails: toOneEmail(token['email'], isTrusted(trustsEmails)),
      name: token['user_name'],
      custom: { resource_owner_id, organizations, application, scope, created_at },
    })
  },
})
