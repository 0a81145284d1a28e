import { ApiError, type ErrorDetails } from '../../errors.ts'

/** The errors of RFC 6749, 7009, 7591, 8628, 8707 and 9449, and of OpenID Connect, that this server returns. */
export type OAuthErrorName =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'invalid_target'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  | 'login_required'
  | 'consent_required'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'invalid_dpop_proof'
  | 'unsupported_token_type'

export function oauthError(
  name: OAuthErrorName,
  message: string,
  details: ErrorDetails = {},
): ApiError {
  return new ApiError('validation_failed', message, { ...details, oauthError: name })
}

/** RFC 6749, section 5.2: the response names the authentication that the client can use. */
export function invalidClient(message: string): ApiError {
  return new ApiError('invalid_credentials', message, {
    status: 401,
    oauthError: 'invalid_client',
    authenticate: 'Basic realm="oauth"',
  })
}

/** RFC 6750, section 3.1. */
export function invalidToken(message: string): ApiError {
  return new ApiError('bad_jwt', message, {
    status: 401,
    oauthError: 'invalid_token',
    authenticate: 'Bearer error="invalid_token"',
  })
}
