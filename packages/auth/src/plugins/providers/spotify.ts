import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrusted, readObjects, toOneEmail, toProfile } from './oauth/profile-parts.ts'
import type { JsonObject } from './oauth/provider-http.ts'

// Spotify does not verify addresses.
const trustsEmails = false

export const spotify = defineOAuth2({
  trustsEmails,
  url: 'https://accounts.spotify.com',
  apiUrl: 'https://api.spotify.com',
  authorizeUrl: ({ url }) => `${url}/authorize`,
  tokenUrl: ({ url }) => `${url}/api/token`,
  scopes: ['user-read-email'],
  credentials: 'basic',
  async readProfile({ setup: { at }, get }) {
    const user = await get(`${at.apiUrl}/v1/me`)
    return toProfile({
      id: user['id'],
      issuer: at.apiUrl,
      emails: toOneEmail(user['email'], isTrusted(trustsEmails)),
      name: user['display_name'],
      picture: findLargest(readObjects(user, 'images'))?.['url'],
    })
  },
})

/** Unknown sizes are null. */
function findLargest(images: readonly JsonObject[]): JsonObject | undefined {
  const sizeOf = ({ width, height }: JsonObject) => Number(width ?? 0) * Number(height ?? 0)
  return images.toSorted((one, other) => sizeOf(other) - sizeOf(one))[0]
}
