import type { ExternalProfile } from './oauth/external-profile.ts'
import { defineOAuth2 } from './oauth/oauth2.ts'
import { isTrue, toOneEmail, toProfile } from './oauth/profile-parts.ts'
import type { JsonObject } from './oauth/provider-http.ts'

/** The URL is that of a realm: `https://host/realms/name`. */
export const keycloak = defineOAuth2({
  authorizeUrl: ({ url }) => `${url}/protocol/openid-connect/auth`,
  tokenUrl: ({ apiUrl }) => `${apiUrl}/protocol/openid-connect/token`,
  scopes: ['profile', 'email'],
  usesPkce: true,
  idTokens: {
    isIssuer: (issuer, { url }) => issuer === url,
    discoveryUrl: (_issuer, { apiUrl }) => apiUrl,
    toProfile: (claims, { url }) => toKeycloakProfile(claims, url),
  },
  async readProfile({ setup: { at }, get }) {
    const user = await get(`${at.apiUrl}/protocol/openid-connect/userinfo`)
    return toKeycloakProfile(user, at.url)
  },
})

/** Claims of an ID token that do not describe the user. */
const tokenClaims = ['iss', 'aud', 'azp', 'exp', 'iat', 'nbf', 'auth_time', 'jti', 'typ', 'nonce']
const sessionClaims = ['at_hash', 'acr', 'sid', 'session_state', 's_hash']

function toKeycloakProfile(user: JsonObject, issuer: string): ExternalProfile {
  const { sub, name, email, email_verified: isVerified, ...rest } = user
  const { given_name, family_name, preferred_username, ...others } = rest
  const custom = Object.entries(others).filter(
    ([claim]) => !tokenClaims.includes(claim) && !sessionClaims.includes(claim),
  )
  return toProfile({
    id: sub,
    issuer,
    emails: toOneEmail(email, isTrue(isVerified)),
    name,
    more: { given_name, family_name, preferred_username },
    custom: Object.fromEntries(custom),
  })
}
