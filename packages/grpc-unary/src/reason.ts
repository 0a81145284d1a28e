/** For a host with several addresses, Node throws an error with a list of errors and no message. */
export function toReason(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(toReason).join('; ')
  return error instanceof Error ? error.message : String(error)
}
