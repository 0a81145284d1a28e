import { defineOAuth2 } from './oauth/oauth2.ts'
import { joinNames, toOneEmail, toProfile } from './oauth/profile-parts.ts'
import type { JsonObject } from './oauth/provider-http.ts'

export const zoom = defineOAuth2({
  url: 'https://zoom.us',
  apiUrl: 'https://api.zoom.us',
  authorizeUrl: ({ url }) => `${url}/oauth/authorize`,
  tokenUrl: ({ url }) => `${url}/oauth/token`,
  // The scopes are chosen when the application is registered at Zoom.
  scopes: [],
  hasFixedScopes: true,
  credentials: 'basic',
  async readProfile({ setup: { at }, get }) {
    const user = await get(`${at.apiUrl}/v2/users/me`)
    return toProfile({
      id: user['id'],
      issuer: `${at.apiUrl}/v2`,
      emails: toOneEmail(user['email'], isVerified(user)),
      name: joinNames(user['first_name'], user['last_name']),
      picture: user['pic_url'],
    })
  },
})

/** Facebook, Google, Apple and Microsoft, by their number at Zoom. */
const socialLogins: readonly unknown[] = [0, 1, 24, 27]

/**
 * `verified` is 1 after the user has opened the link in an email from Zoom. Users who sign in to
 * Zoom with another provider get no such email; Zoom then has the address from that provider.
 */
function isVerified({ verified, login_types: logins }: JsonObject): boolean {
  if (verified === 1) return true
  if (!Array.isArray(logins) || logins.length === 0) return false
  return logins.every((login) => socialLogins.includes(login))
}
