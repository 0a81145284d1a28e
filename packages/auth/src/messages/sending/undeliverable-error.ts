/** Trying again would not help. */
export class UndeliverableError extends Error {
  override readonly name = 'UndeliverableError'
}
