import { OutgoingError } from '../../outgoing/http-client.ts'
import { defineOAuth2 } from './oauth/oauth2.ts'
import {
  isTrusted,
  type ProfileParts,
  readAt,
  readObjects,
  toOneEmail,
  toProfile,
} from './oauth/profile-parts.ts'

const scope = 'https://auth.snapchat.com/oauth2/api'
const query = '{me{externalId displayName bitmoji{avatar id} email}}'

const publicIssuer = 'https://accounts.snapchat.com/accounts/oauth2/token'

// Snapchat does not require users to verify their address.
const trustsEmails = false

/** Most applications get no address from Snapchat. */
export const snapchat = defineOAuth2({
  trustsEmails,
  url: 'https://accounts.snapchat.com',
  apiUrl: 'https://kit.snapchat.com',
  authorizeUrl: ({ url }) => `${url}/accounts/oauth2/auth`,
  tokenUrl: ({ url }) => toIssuer(url),
  scopes: [
    `${scope}/user.external_id`,
    `${scope}/user.display_name`,
    `${scope}/user.bitmoji.avatar`,
  ],
  idTokens: {
    isIssuer: (issuer, { url }) => issuer === publicIssuer || issuer === toIssuer(url),
    toProfile: (claims) =>
      toSnapchatProfile(`${claims['iss']}`, {
        id: claims['sub'],
        emails: toOneEmail(claims['email'], isTrusted(trustsEmails, claims['email_verified'])),
        name: claims['name'],
        picture: claims['picture'],
      }),
  },
  async readProfile({ setup: { at }, get }) {
    // This API is GraphQL, so it sends errors with status 200.
    const answer = await get(`${at.apiUrl}/v1/me?${new URLSearchParams({ query })}`)
    const user = readAt(answer, 'data', 'me')
    if (user === undefined || user === null) {
      const [error] = readObjects(answer, 'errors')
      const reason = `${error?.['message'] ?? 'no reason'}`.slice(0, 100)
      throw new OutgoingError(`snapchat returned no profile: ${reason}`)
    }
    return toSnapchatProfile(toIssuer(at.url), {
      id: readAt(user, 'externalId'),
      emails: toOneEmail(readAt(user, 'email'), isTrusted(trustsEmails)),
      name: readAt(user, 'displayName'),
      picture: readAt(user, 'bitmoji', 'avatar'),
    })
  },
})

/** The URL of the token endpoint is also the issuer. */
function toIssuer(url: string): string {
  return `${url}/accounts/oauth2/token`
}

function toSnapchatProfile(
  issuer: string,
  person: Pick<ProfileParts, 'id' | 'emails' | 'name' | 'picture'>,
) {
  return toProfile({ ...person, issuer, more: { slug: person.name } })
}
