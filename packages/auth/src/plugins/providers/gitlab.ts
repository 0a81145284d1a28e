import { defineOAuth2 } from './oauth/oauth2.ts'
import { toOneEmail, toProfile } from './oauth/profile-parts.ts'

/** Works with gitlab.com and with self-managed installations. */
export const gitlab = defineOAuth2({
  url: 'https://gitlab.com',
  authorizeUrl: ({ url }) => `${url}/oauth/authorize`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/oauth/token`,
  scopes: ['read_user'],
  credentials: 'body',
  usesPkce: true,
  async readProfile({ setup: { at }, get, getList }) {
    const [user, others] = await Promise.all([
      get(`${at.apiUrl}/api/v4/user`),
      getList(`${at.apiUrl}/api/v4/user/emails`),
    ])
    return toProfile({
      id: user['id'],
      issuer: at.apiUrl,
      emails: [
        ...toOneEmail(user['email'], isTime(user['confirmed_at'])),
        ...others.flatMap(({ email }) => toOneEmail(email, false, false)),
      ],
      name: user['name'],
      picture: user['avatar_url'],
    })
  },
})

function isTime(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}
