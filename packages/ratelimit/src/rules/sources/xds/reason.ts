/** A name with several addresses fails with an error that has a list of errors and no text. */
export function toReason(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(toReason).join('; ')
  }
  return error instanceof Error ? error.message : String(error)
}
