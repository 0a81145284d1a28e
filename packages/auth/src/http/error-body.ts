import { ApiError } from '../errors.ts'
import type { Answer } from './call.ts'

export const apiVersion = '2024-01-01'
export const versionHeader = 'x-supabase-api-version'

/** Form A of reference 1.3, or form B where the caller speaks the dialect of the client. */
export function toErrorAnswer(error: ApiError, isSdk: boolean, requestId: string): Answer {
  const { code, status, message, weakPassword, retryAfterSeconds } = error
  const form = isSdk
    ? { code, message, msg: message }
    : { code: status, error_code: code, msg: message }
  return {
    status,
    headers: {
      'x-sb-error-code': code,
      ...(isSdk && { [versionHeader]: apiVersion }),
      ...(retryAfterSeconds !== undefined && { 'retry-after': `${retryAfterSeconds}` }),
    },
    body: {
      ...form,
      ...(status >= 500 && { error_id: requestId }),
      ...(weakPassword && { weak_password: weakPassword }),
    },
  }
}

/** What nobody foresaw. The caller learns nothing of it but the id under which the log has it. */
export function toUnexpected(cause: unknown): ApiError {
  return new ApiError(
    'unexpected_failure',
    'Unexpected failure, please check server logs for more information',
    { cause },
  )
}
