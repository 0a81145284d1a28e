import { OutgoingError } from '../../outgoing/http-client.ts'
import { defineOAuth2 } from './oauth/oauth2.ts'
import {
  isTrue,
  isTrusted,
  joinNames,
  readAt,
  toOneEmail,
  toProfile,
} from './oauth/profile-parts.ts'
import type { IdTokenClaims } from './oauth/provider.ts'

/** Apple is moving from the first issuer to the second. */
const issuers: ReadonlySet<string> = new Set([
  'https://appleid.apple.com',
  'https://account.apple.com',
])

const trustsEmails = true

/** The client secret is a JWT that the operator signs. Apple has no API that returns the profile. */
export const apple = defineOAuth2({
  hasOneInstance: true,
  hasIosApps: true,
  trustsEmails,
  url: 'https://appleid.apple.com',
  authorizeUrl: ({ url }) => `${url}/auth/authorize`,
  tokenUrl: ({ url }) => `${url}/auth/token`,
  scopes: ['email', 'name'],
  hasFixedScopes: true,
  // Apple requires `form_post` when these scopes are requested.
  parameters: { response_mode: 'form_post' },
  returnsByForm: true,
  credentials: 'body',
  idTokens: {
    isIssuer: (issuer, { url, isPublic }) => (isPublic ? issuers.has(issuer) : issuer === url),
    discoveryUrl: (_issuer, { url }) => url,
    toProfile: (claims, { url }) =>
      toProfile({
        id: claims['sub'],
        issuer: typeof claims['iss'] === 'string' ? claims['iss'] : url,
        emails: toOneEmail(claims['email'], isTrusted(trustsEmails, claims['email_verified'])),
        custom: toCustom(claims),
      }),
  },
  async readProfile({ back, readIdToken }) {
    const profile = await readIdToken()
    if (profile === undefined) throw new OutgoingError('apple returned no ID token')
    const name = readName(back.parameters['user'])
    return name === undefined
      ? profile
      : { ...profile, claims: { ...profile.claims, name, full_name: name } }
  },
})

function toCustom({ is_private_email: isPrivate, auth_time, transfer_sub }: IdTokenClaims) {
  return {
    ...(isPrivate !== undefined && { is_private_email: isTrue(isPrivate) }),
    auth_time,
    transfer_sub,
  }
}

/**
 * Apple sends this field only with the first sign-in, and through the browser. The user can change
 * it, so only the name is taken from it.
 */
function readName(field: string | undefined): string | undefined {
  try {
    const user: unknown = JSON.parse(field ?? '')
    return joinNames(readAt(user, 'name', 'firstName'), readAt(user, 'name', 'lastName'))
  } catch {
    return undefined
  }
}
