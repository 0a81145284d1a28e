import { BodyError } from '../../request.ts'
import { internalError, reportFailure } from './failure.ts'

export function bodyTooLarge(limitBytes: number): BodyError {
  return new BodyError(`The request body is larger than ${limitBytes} bytes`, [
    null,
    { status: 413, statusText: 'Content Too Large' },
  ])
}

/**
 * Nothing can be read from a request that other code has read before: a mistake in the set-up, which
 * would otherwise look like a client that sends no body.
 */
export function bodyAlreadyRead(fix: string): BodyError {
  const error = new BodyError(
    `The request body was already read by other code, so the GraphQL handler cannot read it: ${fix}`,
    internalError,
  )
  reportFailure(error)
  return error
}

/** Whether the `content-length` header alone tells that a body is too large. */
export function isDeclaredTooLarge(
  contentLength: string | null | undefined,
  limitBytes: number,
): boolean {
  return limitBytes !== Number.POSITIVE_INFINITY && Number(contentLength) > limitBytes
}
