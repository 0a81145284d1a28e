import { OutgoingError } from '../../outgoing/http-client.ts'
import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrusted, toOneEmail, toProfile } from './oauth/profile-parts.ts'
import type { Addresses } from './oauth/provider.ts'

// For applications registered since 2023, Azure omits addresses whose domain is not verified.
const trustsEmails = true

/** The URL is that of a tenant: `https://login.microsoftonline.com/<id>`. */
export const azure = defineOAuth2({
  trustsEmails,
  findUrlFault: (url) => (isTenant(url) ? undefined : 'must end with the ID of your tenant'),
  url: 'https://login.microsoftonline.com/common',
  authorizeUrl: ({ url }) => `${url}/oauth2/v2.0/authorize`,
  tokenUrl: ({ url }) => `${url}/oauth2/v2.0/token`,
  // With `openid` alone, the ID token contains neither the address nor the name.
  scopes: ['openid', 'email', 'profile'],
  credentials: 'body',
  usesPkce: true,
  idTokens: {
    isIssuer,
    toProfile: (claims) =>
      toProfile({
        id: claims['sub'],
        issuer: `${claims['iss']}`,
        emails: toOneEmail(claims['email'], isTrusted(trustsEmails, toEdov(claims['xms_edov']))),
        name: claims['name'],
        more: { preferred_username: claims['preferred_username'] },
      }),
  },
  async readProfile({ readIdToken }) {
    const profile = await readIdToken()
    if (profile === undefined) throw new OutgoingError('azure returned no ID token')
    return profile
  },
})

/**
 * `xms_edov` says whether the domain owner has verified the address: a number, a boolean, or either
 * as a string.
 */
function toEdov(edov: unknown): unknown {
  return edov === 1 || edov === '1' ? true : edov
}

const tenantIssuer = /^https:\/\/login\.microsoftonline\.com\/[^/?#]+\/v2\.0$/
const customerIssuer = /^https:\/\/[a-z\d-]+\.ciamlogin\.com\/[^/?#]+\/v2\.0$/
/** URLs shared by many tenants: the issuer of a token names the tenant of the user instead. */
const sharedUrl = /^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)$/

function isIssuer(issuer: string, { url }: Addresses): boolean {
  if (!sharedUrl.test(url)) return issuer === `${url}/v2.0`
  return tenantIssuer.test(issuer) || customerIssuer.test(issuer)
}

const publicHost = /^https:\/\/login\.microsoftonline\.com\/?/
/** ID tokens contain the tenant's ID, so a URL with the tenant's name would match none of them. */
const tenantPath =
  /^(?:common|organizations|consumers|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/?$/

function isTenant(url: string): boolean {
  return !publicHost.test(url) || tenantPath.test(url.replace(publicHost, ''))
}
