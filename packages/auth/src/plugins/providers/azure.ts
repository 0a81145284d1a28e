import { OutgoingError } from '../../outgoing/http-client.ts'
import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrusted, toOneEmail, toProfile } from './oauth/profile-parts.ts'
import type { Addresses } from './oauth/provider.ts'

// Since 2023 new registrations get no address whose domain nobody has shown to own.
const trustsEmails = true

/** Its URL is that of a tenant: `https://login.microsoftonline.com/<id>`. */
export const azure = defineOAuth2({
  trustsEmails,
  findUrlFault: (url) => (isTenant(url) ? undefined : 'must end with the id of your tenant'),
  url: 'https://login.microsoftonline.com/common',
  authorizeUrl: ({ url }) => `${url}/oauth2/v2.0/authorize`,
  tokenUrl: ({ url }) => `${url}/oauth2/v2.0/token`,
  // With the first alone it tells neither address nor name, which the specification has by default.
  scopes: ['openid', 'email', 'profile'],
  credentials: 'body',
  usesPkce: true,
  idTokens: {
    isIssuer,
    toProfile: (claims) =>
      toProfile({
        id: claims['sub'],
        issuer: `${claims['iss']}`,
        emails: toOneEmail(claims['email'], isTrusted(trustsEmails, toWord(claims['xms_edov']))),
        name: claims['name'],
        more: { preferred_username: claims['preferred_username'] },
      }),
  },
  async readProfile({ readIdToken }) {
    const profile = await readIdToken()
    if (profile === undefined) throw new OutgoingError('azure gave no ID token')
    return profile
  },
})

/** Whether the owner of the address's domain has been verified: a number or a boolean, or as text. */
function toWord(edov: unknown): unknown {
  return edov === 1 || edov === '1' ? true : edov
}

const ofTenant = /^https:\/\/login\.microsoftonline\.com\/[^/?#]+\/v2\.0$/
const ofCustomers = /^https:\/\/[a-z\d-]+\.ciamlogin\.com\/[^/?#]+\/v2\.0$/
/** Stand for many tenants, so that the issuer is another one. */
const forMany = /^https:\/\/login\.microsoftonline\.com\/(?:common|organizations|consumers)$/

function isIssuer(issuer: string, { url }: Addresses): boolean {
  if (!forMany.test(url)) return issuer === `${url}/v2.0`
  return ofTenant.test(issuer) || ofCustomers.test(issuer)
}

/** ID tokens have the id of the tenant: with its name in the URL none of them would fit. */
const ofAzure = /^https:\/\/login\.microsoftonline\.com\/?/
const tenantPath =
  /^(?:common|organizations|consumers|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/?$/

function isTenant(url: string): boolean {
  return !ofAzure.test(url) || tenantPath.test(url.replace(ofAzure, ''))
}
