import { proofAlgorithms } from '../dpop/proof.ts'
import type { ResourceMetadata } from './resource-metadata.ts'

/** Why a token was rejected. */
export type TokenErrorCode =
  | 'missing_token'
  | 'malformed_token'
  | 'expired_token'
  | 'token_not_yet_valid'
  | 'revoked_token'
  | 'bad_signature'
  | 'unknown_key'
  | 'wrong_algorithm'
  | 'wrong_audience'
  | 'wrong_issuer'
  | 'wrong_role'
  | 'missing_claim'
  | 'second_factor_required'
  | 'missing_proof'
  | 'bad_proof'

/** The request has no token, or one that must be rejected. Respond with 401 or 403. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
  /** Why the token was rejected. */
  readonly code: TokenErrorCode

  /** Verifiers create these errors; tests and adapters may create them too. */
  constructor(code: TokenErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * The keys that verify tokens cannot be fetched, or it is not known which tokens have been revoked,
 * so the token can be neither accepted nor rejected.
 * Respond with 503: a 401 would make clients sign their users out.
 */
export class AuthUnavailableError extends Error {
  override readonly name = 'AuthUnavailableError'
}

/** A response to a request whose token could not be verified. */
export interface Refusal {
  /**
   * 401 for a missing or invalid token, 403 for a token that does not allow the request, 503 if the
   * keys cannot be fetched.
   */
  readonly status: 401 | 403 | 503
  /** `content-type`, `cache-control`, and `www-authenticate` or `retry-after`. */
  readonly headers: Readonly<Record<string, string>>
  /** Why the request was rejected. */
  readonly code: TokenErrorCode | 'auth_unavailable'
  /** The reason as a readable message. */
  readonly message: string
  /** JSON with `error` (the code) and `message`. */
  readonly body: string
}

/** The errors of RFC 9449, section 7.1. */
const proofErrors: { readonly [Code in TokenErrorCode]?: string } = {
  missing_proof: 'invalid_token',
  bad_proof: 'invalid_dpop_proof',
}

/** A valid token that does not allow the request; signing in again would not help. */
const forbidden: ReadonlySet<TokenErrorCode> = new Set(['wrong_role', 'second_factor_required'])

/**
 * Converts an error of a verifier to an HTTP response with a JSON body, as described in RFC 6750.
 * @param metadata of the API, by which clients find the auth server. Default: they are not told.
 * @returns undefined for any other error.
 */
export function toRefusal(
  error: unknown,
  metadata?: Pick<ResourceMetadata, 'url'>,
): Refusal | undefined {
  if (error instanceof AuthUnavailableError)
    return createRefusal(503, 'auth_unavailable', 'The auth server cannot be reached. Try again.', {
      'retry-after': '1',
    })
  if (!(error instanceof TokenError)) return undefined
  const { code, message } = error
  if (forbidden.has(code))
    return createRefusal(403, code, message, {
      'www-authenticate': 'Bearer error="insufficient_scope"',
    })
  const proofError = proofErrors[code]
  const parameters = [
    // A request without a token must not get an error code (RFC 6750, section 3.1).
    ...(code === 'missing_token' ? [] : [`error="${proofError ?? 'invalid_token'}"`]),
    ...(proofError === undefined ? [] : [`algs="${proofAlgorithms.join(' ')}"`]),
    ...(metadata === undefined ? [] : [`resource_metadata="${metadata.url}"`]),
  ]
  const scheme = proofError === undefined ? 'Bearer' : 'DPoP'
  const challenge = [scheme, parameters.join(', ')].filter((part) => part !== '').join(' ')
  return createRefusal(401, code, message, { 'www-authenticate': challenge })
}

function createRefusal(
  status: Refusal['status'],
  code: Refusal['code'],
  message: string,
  headers: Readonly<Record<string, string>>,
): Refusal {
  return {
    status,
    code,
    message,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify({ error: code, message }),
  }
}
