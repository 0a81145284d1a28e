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

/** It is moving from the first to the second. */
const issuers: ReadonlySet<string> = new Set([
  'https://appleid.apple.com',
  'https://account.apple.com',
])

const trustsEmails = true

/** Our secret there is a token that the operator signs; it has no API to ask about people. */
export const apple = defineOAuth2({
  isAtOnePlace: true,
  hasIosApps: true,
  trustsEmails,
  url: 'https://appleid.apple.com',
  authorizeUrl: ({ url }) => `${url}/auth/authorize`,
  tokenUrl: ({ url }) => `${url}/auth/token`,
  scopes: ['email', 'name'],
  hasFixedScopes: true,
  // With these scopes it refuses every other way back.
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
    if (profile === undefined) throw new OutgoingError('apple gave no ID token')
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
 * Comes with the first sign-in only, and through the browser: whoever sits there may write what they
 * like, so of the field nothing but the name is taken.
 */
function readName(field: string | undefined): string | undefined {
  try {
    const user: unknown = JSON.parse(field ?? '')
    return joinNames(readAt(user, 'name', 'firstName'), readAt(user, 'name', 'lastName'))
  } catch {
    return undefined
  }
}
