import type { Response } from '../../request.ts'

/** The response to an internal error. It contains no details. */
export const internalError: Response = [null, { status: 500, statusText: 'Internal Server Error' }]

/** Logs an exception in an option, or the misuse of a handler. */
export function reportFailure(error: unknown): void {
  console.error(
    'Internal error occurred during request handling. Please check your implementation.',
    error,
  )
}
