/** Why a token was refused. */
export type TokenErrorCode =
  | 'missing_token'
  | 'malformed_token'
  | 'expired_token'
  | 'token_not_yet_valid'
  | 'bad_signature'
  | 'unknown_key'
  | 'wrong_algorithm'
  | 'wrong_audience'
  | 'wrong_issuer'
  | 'wrong_role'
  | 'missing_claim'
  | 'second_factor_required'

/** The request has no token, or one that must not be accepted. Answer with 401 or 403. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
  /** Why the token was refused. */
  readonly code: TokenErrorCode

  /** Verifiers create these errors; tests and adapters may. */
  constructor(code: TokenErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/**
 * The keys that verify tokens cannot be fetched, so nothing is known about the token. Answer with 503:
 * a 401 would make clients sign their users out.
 */
export class AuthUnavailableError extends Error {
  override readonly name = 'AuthUnavailableError'
}

/** An answer to a request whose token could not be verified. */
export interface Refusal {
  /**
   * 401 for a token that is missing or bad, 403 for one that does not allow the request, 503 when the keys
   * cannot be fetched.
   */
  readonly status: 401 | 403 | 503
  /** `content-type`, `cache-control`, and `www-authenticate` or `retry-after`. */
  readonly headers: Readonly<Record<string, string>>
  /** Why the request was refused. */
  readonly code: TokenErrorCode | 'auth_unavailable'
  /** The same for people. */
  readonly message: string
  /** JSON with `error` (the code) and `message`. */
  readonly body: string
}

/** A valid token that does not allow the request: signing in once more would not help. */
const forbidden: ReadonlySet<TokenErrorCode> = new Set(['wrong_role', 'second_factor_required'])

/**
 * Turns an error of a verifier into an HTTP answer with a JSON body, as RFC 6750 describes it.
 * @returns undefined for any other error.
 */
export function toRefusal(error: unknown): Refusal | undefined {
  if (error instanceof AuthUnavailableError)
    return toAnswer(503, 'auth_unavailable', 'The auth server cannot be reached. Try again.', {
      'retry-after': '1',
    })
  if (!(error instanceof TokenError)) return undefined
  const { code, message } = error
  if (forbidden.has(code))
    return toAnswer(403, code, message, {
      'www-authenticate': 'Bearer error="insufficient_scope"',
    })
  // A request without any token is not told that its token is invalid (RFC 6750, 3.1).
  const challenge = code === 'missing_token' ? 'Bearer' : 'Bearer error="invalid_token"'
  return toAnswer(401, code, message, { 'www-authenticate': challenge })
}

function toAnswer(
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
