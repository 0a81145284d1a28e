import type { Services } from '../../services.ts'

/**
 * The document of OpenID Connect Discovery, for programs that find the keys of access tokens through
 * it. It names only endpoints that exist: this server is not an authorization server for other sites.
 */
export function toDiscoveryDocument({ config, signingKeys }: Services) {
  const { externalUrl } = config.api
  const { publicKeys, signing } = signingKeys
  return {
    issuer: config.tokens.issuer ?? externalUrl,
    jwks_uri: `${externalUrl}/.well-known/jwks.json`,
    id_token_signing_alg_values_supported: [
      ...new Set([signing.algorithm, ...publicKeys.map(({ alg }) => alg)]),
    ],
    response_types_supported: [],
    subject_types_supported: ['public'],
    claims_supported: [
      ...['sub', 'aud', 'iss', 'exp', 'iat', 'email', 'phone', 'role', 'app_metadata'],
      ...['user_metadata', 'aal', 'amr', 'session_id', 'is_anonymous'],
    ],
  }
}
