import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrue, readAt, readObjects, toOneEmail, toProfile } from './oauth/profile-parts.ts'

export const bitbucket = defineOAuth2({
  url: 'https://bitbucket.org',
  apiUrl: 'https://api.bitbucket.org',
  authorizeUrl: ({ url }) => `${url}/site/oauth2/authorize`,
  tokenUrl: ({ url }) => `${url}/site/oauth2/access_token`,
  scopes: ['account', 'email'],
  credentials: 'basic',
  async readProfile({ setup: { at }, get }) {
    const [user, emails] = await Promise.all([
      get(`${at.apiUrl}/2.0/user`),
      get(`${at.apiUrl}/2.0/user/emails?pagelen=100`),
    ])
    return toProfile({
      id: user['uuid'],
      issuer: at.apiUrl,
      emails: readObjects(emails, 'values').flatMap((each) =>
        toOneEmail(each['email'], isTrue(each['is_confirmed']), isTrue(each['is_primary'])),
      ),
      name: user['display_name'],
      picture: readAt(user, 'links', 'avatar', 'href'),
    })
  },
})
