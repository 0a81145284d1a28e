import { defineOAuth1 } from './oauth/oauth1.ts'
import { isTrusted, toOneEmail, toProfile } from './oauth/profile-parts.ts'

const query = 'include_entities=false&skip_status=true&include_email=true'

const trustsEmails = true

export const twitter = defineOAuth1({
  trustsEmails,
  url: 'https://api.twitter.com',
  requestTokenUrl: ({ apiUrl }) => `${apiUrl}/oauth/request_token`,
  authorizeUrl: ({ url }) => `${url}/oauth/authenticate`,
  accessTokenUrl: ({ apiUrl }) => `${apiUrl}/oauth/access_token`,
  async readProfile({ apiUrl }, get) {
    const user = await get(`${apiUrl}/1.1/account/verify_credentials.json?${query}`)
    return toProfile({
      // `id` can be too large for a number of JavaScript, which would round it.
      id: user['id_str'] ?? user['id'],
      issuer: apiUrl,
      emails: toOneEmail(user['email'], isTrusted(trustsEmails)),
      name: user['name'],
      picture: user['profile_image_url_https'],
      more: { user_name: user['screen_name'], preferred_username: user['screen_name'] },
    })
  },
})
