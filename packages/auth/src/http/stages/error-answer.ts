import { DatabaseLostError, type Loss } from '../../db/database-errors.ts'
import { ApiError } from '../../errors.ts'
import type { Answer } from '../call.ts'

export const apiVersion = '2024-01-01'
export const versionHeader = 'x-supabase-api-version'
/** The id of the request in the log. */
export const requestIdHeader = 'x-request-id'

/**
 * Uses `code` and `message` if the client requested versioned errors, `error_code` and `msg`
 * otherwise, or the form of RFC 6749.
 */
export function toErrorAnswer(error: ApiError, isVersioned: boolean, requestId: string): Answer {
  const { code, status, message, weakPassword, retryAfterSeconds, oauthError } = error
  const { authenticate, proofNonce } = error
  const plain = isVersioned
    ? { code, message, msg: message }
    : { code: status, error_code: code, msg: message }
  const form = oauthError === undefined ? plain : { error: oauthError, error_description: message }
  return {
    status,
    headers: {
      'x-sb-error-code': code,
      [requestIdHeader]: requestId,
      ...(isVersioned && { [versionHeader]: apiVersion }),
      ...(retryAfterSeconds !== undefined && { 'retry-after': `${retryAfterSeconds}` }),
      ...(authenticate !== undefined && { 'www-authenticate': authenticate }),
      ...(proofNonce !== undefined && { 'dpop-nonce': proofNonce }),
    },
    body: {
      ...form,
      ...(status >= 500 && { error_id: requestId }),
      ...(weakPassword && { weak_password: weakPassword }),
    },
  }
}

/** The `error` of RFC 6749 by the status; other statuses are about the request. */
const oauthErrors: Readonly<Record<number, string>> = {
  401: 'invalid_token',
  403: 'invalid_token',
  429: 'temporarily_unavailable',
  500: 'server_error',
  503: 'temporarily_unavailable',
  504: 'temporarily_unavailable',
}

/** Gives every error the form of RFC 6749. */
export function toOAuthForm(error: ApiError): ApiError {
  if (error.oauthError !== undefined) return error
  const { code, message, cause, status, retryAfterSeconds } = error
  const oauthError = oauthErrors[status] ?? 'invalid_request'
  const isToken = oauthError === 'invalid_token'
  return new ApiError(code, message, {
    cause,
    oauthError,
    // RFC 6750, section 3.1: a client gets a new token after 401, and gives up after 403.
    status: isToken ? 401 : status,
    ...(isToken && { authenticate: 'Bearer error="invalid_token"' }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}

/** The form of RFC 7644, section 3.12. */
export function toScimAnswer(error: ApiError, requestId: string): Answer {
  const { code, status, message, scimType, retryAfterSeconds } = error
  return {
    status,
    headers: {
      'x-sb-error-code': code,
      [requestIdHeader]: requestId,
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(retryAfterSeconds !== undefined && { 'retry-after': `${retryAfterSeconds}` }),
    },
    contentType: 'application/scim+json',
    body: {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: `${status}`,
      ...(scimType !== undefined && { scimType }),
      detail: message,
    },
  }
}

/**
 * Hides the cause of an unexpected error; the client gets only the id of the request in the log.
 */
export function toUnexpected(cause: unknown): ApiError {
  return new ApiError(
    'unexpected_failure',
    'Unexpected failure, please check server logs for more information',
    { cause },
  )
}

/** Supabase clients recognise this error and retry. */
export function toRequestTimeout(cause?: unknown): ApiError {
  return new ApiError(
    'request_timeout',
    'Processing this request timed out, please retry after a moment.',
    { cause },
  )
}

/**
 * Public messages and retry delays: a restart takes a second or two, a full disk needs an operator.
 */
const losses: Readonly<
  Record<Exclude<Loss, 'timeout'>, readonly [message: string, seconds: number]>
> = {
  away: ['The database cannot be reached right now, please retry after a moment.', 1],
  busy: ['The database has no connection left right now, please retry after a moment.', 1],
  full: ['The database cannot store anything right now, please retry later.', 30],
  failing: ['The database cannot process this request right now, please retry later.', 5],
}

function toDatabaseLost(loss: Loss, cause: unknown): ApiError {
  if (loss === 'timeout') return toRequestTimeout(cause)
  const [message, retryAfterSeconds] = losses[loss]
  return new ApiError('database_unavailable', message, { cause, retryAfterSeconds })
}

interface FastifyFailure {
  readonly code?: string
  readonly validation?: readonly { readonly instancePath: string; readonly message?: string }[]
}

/** Maps any thrown value to an error response. */
export function toApiError(error: unknown, bodyLimitBytes: number): ApiError {
  if (error instanceof ApiError) return error
  if (error instanceof DatabaseLostError) return toDatabaseLost(error.loss, error)
  const { code, validation } = (error ?? {}) as FastifyFailure
  if (validation !== undefined) {
    const [first] = validation
    const where = first?.instancePath.slice(1).replaceAll('/', '.') || 'the body'
    return new ApiError(
      'bad_json',
      `Could not parse request body as JSON: ${where} ${first?.message ?? 'is invalid'}`,
    )
  }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const message = `Request body too large (max ${bodyLimitBytes} bytes)`
    return new ApiError('request_entity_too_large', message)
  }
  return toUnexpected(error)
}
