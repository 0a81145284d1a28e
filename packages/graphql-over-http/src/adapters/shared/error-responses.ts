import { BodyError, createRefusal, getExplanation, type Response } from '../../request.ts'

/** The response to an internal error. It contains no details. */
export const internalError: Response = [null, { status: 500, statusText: 'Internal Server Error' }]

/** Logs an exception in an option, or the misuse of a handler. */
export function reportFailure(error: unknown): void {
  console.error(
    'Internal error occurred during request handling. Please check your implementation.',
    error,
  )
}

/**
 * Adds the message of a refusal from the core as a JSON body; returns any other response unchanged.
 */
export function explain(response: Response): Response {
  if (response[0] !== null) return response
  const message = getExplanation(response)
  if (message === undefined) return response
  const [, init] = response
  const headers = { ...init.headers, 'content-type': 'application/json; charset=utf-8' }
  return [JSON.stringify({ errors: [{ message }] }), { ...init, headers }]
}

export function bodyTooLarge(limitBytes: number): BodyError {
  const message = `The request body is larger than ${limitBytes} bytes, the limit of the option "bodyLimitBytes"`
  return new BodyError(message, createRefusal(413, 'Content Too Large', message))
}

/** RFC 9110, section 15.5.16: the response lists the supported encodings. */
export function encodingNotSupported(): BodyError {
  const message = 'Content-Encoding is not supported; send the body without compression'
  const headers = { 'accept-encoding': 'identity' }
  return new BodyError(message, createRefusal(415, 'Unsupported Media Type', message, headers))
}

/**
 * The body was consumed before the handler ran. This is a misconfiguration, which would otherwise
 * look like a client that sends no body.
 */
export function bodyAlreadyRead(fix: string): BodyError {
  const error = new BodyError(
    `The request body was already read by other code, so the GraphQL handler cannot read it: ${fix}`,
    internalError,
  )
  reportFailure(error)
  return error
}

/**
 * Returns the error for a body that its headers already rule out: it is compressed or too large.
 */
export function findFault(
  contentLength: string | null | undefined,
  contentEncoding: string | null | undefined,
  limitBytes: number,
): BodyError | undefined {
  if (isEncoded(contentEncoding)) return encodingNotSupported()
  return Number(contentLength ?? 0) > limitBytes ? bodyTooLarge(limitBytes) : undefined
}

export function isEncoded(contentEncoding: string | null | undefined): boolean {
  return Boolean(contentEncoding) && contentEncoding?.trim().toLowerCase() !== 'identity'
}
