import { ApiError } from '../../errors.ts'

export function toTimeout(timeoutMs: number, cause?: unknown): ApiError {
  const seconds = (timeoutMs / 1_000).toFixed(6)
  const message = `Failed to reach hook within maximum time of ${seconds} seconds`
  return new ApiError('hook_timeout', message, { cause })
}
