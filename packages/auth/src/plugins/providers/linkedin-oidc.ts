import { OutgoingError } from '../../outgoing/http-client.ts'
import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrue, joinNames, toOneEmail, toProfile } from './oauth/profile-parts.ts'

const publicIssuer = 'https://www.linkedin.com/oauth'

/** Sign In with LinkedIn using OpenID Connect, which replaces version 2 of the LinkedIn API. */
export const linkedinOidc = defineOAuth2({
  url: 'https://www.linkedin.com',
  authorizeUrl: ({ url }) => `${url}/oauth/v2/authorization`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/oauth/v2/accessToken`,
  scopes: ['openid', 'email', 'profile'],
  credentials: 'body',
  idTokens: {
    isIssuer: (issuer, { url }) => issuer === publicIssuer || issuer === `${url}/oauth`,
    toProfile: (claims) => {
      const { given_name, family_name, locale } = claims
      return toProfile({
        id: claims['sub'],
        issuer: `${claims['iss']}`,
        emails: toOneEmail(claims['email'], isTrue(claims['email_verified'])),
        name: claims['name'] ?? joinNames(given_name, family_name),
        picture: claims['picture'],
        // LinkedIn sends the locale as a string or as an object.
        more: { given_name, family_name, ...(typeof locale === 'string' && { locale }) },
      })
    },
  },
  async readProfile({ readIdToken }) {
    const profile = await readIdToken()
    if (profile === undefined) throw new OutgoingError('linkedin_oidc returned no ID token')
    return profile
  },
})
