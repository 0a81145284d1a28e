import { isTrusted } from './email-trust.ts'
import { defineOAuth2 } from './oauth2.ts'
import { type Addresses, toOneEmail, toProfile } from './provider.ts'
import { ProviderHttpError } from './provider-http.ts'

/** Its URL is that of a tenant: `https://login.microsoftonline.com/<id>`. */
export const azure = defineOAuth2({
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
        emails: toOneEmail(claims['email'], isTrusted('azure', toWord(claims['xms_edov']))),
        name: claims['name'],
        more: { preferred_username: claims['preferred_username'] },
      }),
  },
  async readProfile({ readIdToken }) {
    const profile = await readIdToken()
    if (profile === undefined) throw new ProviderHttpError('azure gave no ID token')
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
