/** PostgreSQL's codes for a table and a schema that are not there. */
const missing: ReadonlySet<unknown> = new Set(['42P01', '3F000'])

/** What a person is told about a failure of a command. */
export function toReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && missing.has(error.code)) {
    return `The tables are not there (${error.message}): run auth migrate first.`
  }
  // Every address of a host that refused makes one error of several, whose own text is empty.
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(toReason).join('; ')
  }
  return error.message
}
