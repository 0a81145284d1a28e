import type { ExternalProfile } from './oauth/external-profile.ts'
import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrue, toOneEmail, toProfile } from './oauth/profile-parts.ts'
import type { JsonObject } from './oauth/provider-http.ts'

const issuers: ReadonlySet<string> = new Set(['https://accounts.google.com', 'accounts.google.com'])

export const google = defineOAuth2({
  hasOneInstance: true,
  url: 'https://accounts.google.com',
  apiUrl: 'https://www.googleapis.com',
  authorizeUrl: ({ url }) => `${url}/o/oauth2/v2/auth`,
  tokenUrl: ({ url, isPublic }) =>
    isPublic ? 'https://oauth2.googleapis.com/token' : `${url}/token`,
  scopes: ['email', 'profile'],
  credentials: 'body',
  usesPkce: true,
  idTokens: {
    isIssuer: (issuer, { url, isPublic }) => (isPublic ? issuers.has(issuer) : issuer === url),
    discoveryUrl: (_issuer, { url }) => url,
    toProfile: (claims, { url }) => toGoogleProfile(claims, url),
  },
  async readProfile({ setup: { at }, get, readIdToken }) {
    const profile = await readIdToken()
    return profile ?? toGoogleProfile(await get(`${at.apiUrl}/userinfo/v2/me`), at.url)
  },
})

/**
 * Reads the claims of an ID token or the response of the older API, which names some of them
 * differently.
 */
function toGoogleProfile(user: JsonObject, issuer: string): ExternalProfile {
  const isVerified = isTrue(user['email_verified'] ?? user['verified_email'])
  return toProfile({
    id: user['sub'] ?? user['id'],
    issuer,
    emails: toOneEmail(user['email'], isVerified),
    name: user['name'],
    picture: user['picture'],
    more: { given_name: user['given_name'], family_name: user['family_name'] },
    custom: { hd: user['hd'] },
  })
}
