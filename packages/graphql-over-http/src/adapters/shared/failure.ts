import type { Response } from '../../request.ts'

/** The answer to a failure that is the server's own: nothing about it reaches the client. */
export const internalError: Response = [null, { status: 500, statusText: 'Internal Server Error' }]

/** Tells the operator, once, about an exception in an option or a wrongly mounted handler. */
export function reportFailure(error: unknown): void {
  console.error(
    'Internal error occurred during request handling. Please check your implementation.',
    error,
  )
}
