import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload } from 'jose'
import { TokenError, type TokenErrorCode } from './errors.ts'
import type { VerifierOptions } from './verifier-options.ts'

const publicAlgorithms = ['ES256', 'RS256', 'EdDSA']

/** A token must not choose how it is verified: secrets verify only HS256, public keys never do. */
export function listAlgorithms({ secret, authUrl, jwks }: VerifierOptions): string[] {
  return [
    ...(secret === undefined ? [] : ['HS256']),
    ...(authUrl === undefined && jwks === undefined ? [] : publicAlgorithms),
  ]
}

/** Converts an error of jose to one with advice. Other errors are returned unchanged. */
export function toTokenError(error: unknown, token: string, options: VerifierOptions): unknown {
  const because = (code: TokenErrorCode, message: string) =>
    new TokenError(code, message, { cause: error })
  if (error instanceof errors.JWTExpired)
    return because('expired_token', 'The token has expired: refresh the session to get a new one')
  if (error instanceof errors.JWTClaimValidationFailed) return fromClaim(error, options)
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return because('bad_signature', describeSignature(options))
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
    return because(
      'unknown_key',
      'The auth server has no key with the id in the token: is the token from another server?',
    )
  if (error instanceof errors.JOSEAlgNotAllowed)
    return because('wrong_algorithm', describeAlgorithm(token, options))
  if (error instanceof errors.JOSEError) return because('malformed_token', describeMalformed(token))
  return error
}

/** The error for a token whose audience the options do not accept. */
export function toAudienceError(
  { aud = '' }: JWTPayload,
  { audience = 'authenticated' }: VerifierOptions,
  cause?: unknown,
): TokenError {
  return new TokenError(
    'wrong_audience',
    `The token is for the audience ${quote(aud)} (aud), but this API accepts ${quote(audience)}: ` +
      'change the option "audience", or AUTH_JWT_AUD on the auth server',
    { cause },
  )
}

const quote = (texts: string | readonly string[]): string =>
  [texts]
    .flat()
    .map((text) => JSON.stringify(text))
    .join(' or ')

function fromClaim(error: errors.JWTClaimValidationFailed, options: VerifierOptions): TokenError {
  const { claim, reason, payload } = error
  const because = (code: TokenErrorCode, message: string) =>
    new TokenError(code, message, { cause: error })
  if (reason === 'missing') {
    const fix = claim === 'iss' ? ': set AUTH_JWT_ISSUER on the auth server' : ''
    return because(
      'missing_claim',
      describeApiKey(payload) ?? `The token has no claim "${claim}"${fix}`,
    )
  }
  if (claim === 'aud') return toAudienceError(payload, options, error)
  if (claim === 'iss')
    return because(
      'wrong_issuer',
      `The token is from the issuer ${quote(payload.iss ?? '')} (iss), but this API accepts ` +
        `${quote(options.issuer ?? '')}: change the option "issuer", or AUTH_JWT_ISSUER on the auth server`,
    )
  if (claim === 'nbf')
    return because(
      'token_not_yet_valid',
      'The token is not valid yet (nbf): synchronise the clocks of this machine and the auth server',
    )
  return because('malformed_token', `The claim "${claim}" of the token is invalid`)
}

/** Supabase clients send their API key if no user is signed in. It has a role, but no user. */
function describeApiKey({ sub, role }: JWTPayload): string | undefined {
  if (sub !== undefined || (role !== 'anon' && role !== 'service_role')) return undefined
  return `The token is an API key (role "${role}"), not the token of a user: sign in and send the "access_token" of the session`
}

function describeSignature({ secret = '' }: VerifierOptions): string {
  const hint =
    secret === secret.trim() ? '' : '; the option "secret" has leading or trailing white space'
  return `The signature does not match the key of the auth server${hint}`
}

/**
 * The usual reason is an API that has only the address of an auth server that signs with a secret.
 */
function describeAlgorithm(token: string, options: VerifierOptions): string {
  const { alg = '' } = decodeProtectedHeader(token)
  if (alg === 'HS256')
    return (
      describeApiKey(readPayload(token)) ??
      'The token is signed with a secret (HS256), but this API verifies only tokens signed with a key pair: ' +
        'pass AUTH_JWT_SECRET as the option "secret"'
    )
  if (publicAlgorithms.includes(alg))
    return (
      `The token is signed with a key pair (${alg}), but this API verifies only tokens signed with a secret: ` +
      'pass the address of the auth server as the option "authUrl"'
    )
  const accepted = listAlgorithms(options).join(' or ')
  return `The token is signed with an algorithm that is not accepted; use ${accepted}`
}

/** Not verified; it only affects the message. */
function readPayload(token: string): JWTPayload {
  try {
    return decodeJwt(token)
  } catch {
    return {}
  }
}

function describeMalformed(token: unknown): string {
  if (typeof token === 'string' && /^bearer\s/i.test(token))
    return 'verify() takes a token without "Bearer": pass the header to verifyHeader()'
  return (
    'The token is not an access token (a JWT): send the "access_token" of the session, ' +
    'not its refresh token or an API key'
  )
}
