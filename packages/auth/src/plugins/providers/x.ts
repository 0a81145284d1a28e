import { OutgoingError } from '../../outgoing/http-client.ts'
import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrusted, readObjects, toOneEmail, toProfile } from './oauth/profile-parts.ts'
import { isObject } from './oauth/provider-http.ts'

const fields = 'id,name,username,confirmed_email,profile_image_url,url,created_at'

// X returns an address only after the user has confirmed it.
const trustsEmails = true

/** Version 2 of the API, with OAuth 2.0. `twitter` is version 1.1, with OAuth 1.0a. */
export const x = defineOAuth2({
  trustsEmails,
  url: 'https://x.com',
  apiUrl: 'https://api.x.com',
  authorizeUrl: ({ url }) => `${url}/i/oauth2/authorize`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/2/oauth2/token`,
  // X refuses `users.read` without `tweet.read`.
  scopes: ['users.email', 'tweet.read', 'users.read', 'offline.access'],
  credentials: 'basic',
  usesPkce: true,
  async readProfile({ setup: { at }, get }) {
    const answer = await get(`${at.apiUrl}/2/users/me?user.fields=${fields}`)
    const { data: user } = answer
    // X sends some errors with status 200.
    if (!isObject(user)) {
      const [error] = readObjects(answer, 'errors')
      const reason = `${error?.['detail'] ?? 'no reason'}`.slice(0, 100)
      throw new OutgoingError(`x returned no profile: ${reason}`)
    }
    const { username } = user
    return toProfile({
      id: user['id'],
      issuer: at.apiUrl,
      emails: toOneEmail(user['confirmed_email'], isTrusted(trustsEmails)),
      name: user['name'],
      picture: user['profile_image_url'],
      more: {
        user_name: username,
        preferred_username: username,
        ...(typeof username === 'string' && { profile: `https://x.com/${username}` }),
        website: user['url'],
      },
      custom: { created_at: user['created_at'] },
    })
  },
})
