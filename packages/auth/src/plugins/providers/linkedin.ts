import { defineOAuth2 } from './oauth/oauth2.ts'
import {
  isTrusted,
  joinNames,
  readAt,
  readObjects,
  toOneEmail,
  toProfile,
} from './oauth/profile-parts.ts'

const profileFields = '(id,firstName,lastName,profilePicture(displayImage~:playableStreams))'
const emailFields = '(elements*(handle~))'

const trustsEmails = true

export const linkedin = defineOAuth2({
  trustsEmails,
  url: 'https://api.linkedin.com',
  authorizeUrl: ({ url }) => `${url}/oauth/v2/authorization`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/oauth/v2/accessToken`,
  scopes: ['r_emailaddress', 'r_liteprofile'],
  credentials: 'body',
  async readProfile({ setup: { at }, get }) {
    const [user, emails] = await Promise.all([
      get(`${at.apiUrl}/v2/me?projection=${profileFields}`),
      get(`${at.apiUrl}/v2/emailAddress?q=members&projection=${emailFields}`),
    ])
    const [first] = readObjects(emails, 'elements')
    const [stream] = readObjects(user, 'profilePicture', 'displayImage~', 'elements')
    return toProfile({
      id: user['id'],
      issuer: at.apiUrl,
      emails: toOneEmail(readAt(first, 'handle~', 'emailAddress'), isTrusted(trustsEmails)),
      name: joinNames(toLocal(user['firstName']), toLocal(user['lastName'])),
      picture: readAt(stream, 'identifiers', 0, 'identifier'),
    })
  },
})

/** Returns the name in the member's preferred language. */
function toLocal(name: unknown): unknown {
  const language = readAt(name, 'preferredLocale', 'language')
  const country = readAt(name, 'preferredLocale', 'country')
  return readAt(name, 'localized', `${language}_${country}`)
}
