import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrue, toOneEmail, toProfile } from './oauth/profile-parts.ts'

export const github = defineOAuth2({
  url: 'https://github.com',
  apiUrl: 'https://api.github.com',
  // GitHub Enterprise Server
  toApiUrl: (url) => `${url}/api/v3`,
  authorizeUrl: ({ url }) => `${url}/login/oauth/authorize`,
  tokenUrl: ({ url }) => `${url}/login/oauth/access_token`,
  scopes: ['user:email'],
  credentials: 'body',
  usesPkce: true,
  async readProfile({ setup: { at }, get, getList }) {
    const [user, emails] = await Promise.all([
      get(`${at.apiUrl}/user`),
      getList(`${at.apiUrl}/user/emails`),
    ])
    return toProfile({
      id: user['id'],
      issuer: at.apiUrl,
      emails: emails.flatMap(({ email, verified, primary }) =>
        toOneEmail(email, isTrue(verified), isTrue(primary)),
      ),
      name: user['name'],
      picture: user['avatar_url'],
      more: { user_name: user['login'], preferred_username: user['login'] },
    })
  },
})
