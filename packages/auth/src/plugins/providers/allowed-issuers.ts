import { isTrue, toOneEmail, toProfile } from './oauth/profile-parts.ts'
import type { ExternalIdTokens, ExternalProviders, OpenId } from './oauth/provider.ts'

export interface AllowedIssuersSettings {
  /** AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS. */
  readonly issuers: readonly string[]
  /** AUTH_EXTERNAL_ALLOWED_ID_TOKEN_CLIENT_IDS. If empty, the audience must be the client ID in the request. */
  readonly clientIds: readonly string[]
  readonly openId: OpenId
}

/** The providers apple and google accept the tokens of these issuers, for their own client IDs. */
export const issuersOfProviders: ReadonlySet<string> = new Set([
  'https://appleid.apple.com',
  'https://accounts.google.com',
])

/** Issuers of ID tokens that are not providers of this server. */
export function createAllowedIssuers(
  settings: AllowedIssuersSettings,
): Pick<ExternalProviders, 'findAllowedIssuer'> {
  const { issuers, clientIds, openId } = settings
  return {
    findAllowedIssuer(issuer, clientId) {
      if (!issuers.includes(issuer) || issuersOfProviders.has(issuer)) return undefined
      const audiences = clientIds.length === 0 ? [clientId] : clientIds
      const isIssuer = (name: string) => name === issuer
      const discoveryUrl = issuer.replace(/\/+$/, '')
      const idTokens: ExternalIdTokens = {
        isIssuer,
        skipsNonce: false,
        verify: (idToken) => openId.verify(idToken, { discoveryUrl, isIssuer, audiences }),
        toProfile: ({ sub, email, email_verified: isVerified, name, picture, ...claims }) =>
          toProfile({
            id: sub,
            issuer,
            emails: toOneEmail(email, isTrue(isVerified)),
            name,
            picture,
            more: {
              given_name: claims['given_name'],
              family_name: claims['family_name'],
              preferred_username: claims['preferred_username'],
            },
          }),
      }
      return { provider: { id: issuer, isEmailOptional: false }, idTokens }
    },
  }
}
