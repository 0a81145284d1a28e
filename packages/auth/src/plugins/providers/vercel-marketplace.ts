import { OutgoingError } from '../../outgoing/http-client.ts'
import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrusted, toOneEmail, toProfile } from './oauth/profile-parts.ts'
import type { IdTokenClaims } from './oauth/provider.ts'

const publicIssuer = 'https://marketplace.vercel.com'

const trustsEmails = true

/** For integrations of the Vercel Marketplace, which get an ID token when Vercel opens them. */
export const vercelMarketplace = defineOAuth2({
  trustsEmails,
  url: 'https://api.vercel.com',
  authorizeUrl: ({ url }) => `${url}/oauth/v2/authorization`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/oauth/v2/accessToken`,
  scopes: [],
  credentials: 'body',
  idTokens: {
    isIssuer: (issuer, { url, isPublic }) =>
      issuer === publicIssuer || (!isPublic && issuer === url),
    toProfile: (claims) =>
      toProfile({
        id: toUserId(claims),
        issuer: `${claims['iss']}`,
        emails: toOneEmail(claims['user_email'], isTrusted(trustsEmails)),
        name: claims['user_name'],
        picture: claims['user_avatar_url'],
      }),
  },
  async readProfile({ readIdToken }) {
    const profile = await readIdToken()
    if (profile === undefined) throw new OutgoingError('vercel_marketplace returned no ID token')
    return profile
  },
})

/** `sub` differs between the teams that a user belongs to, and `global_user_id` does not. */
function toUserId({ sub, global_user_id: id }: IdTokenClaims): unknown {
  return typeof id === 'string' && id !== '' ? `global_user_id:${id}` : sub
}
