/** For a name with several addresses, the error has a list of errors and no message. */
export function toReason(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(toReason).join('; ')
  }
  return error instanceof Error ? error.message : String(error)
}
