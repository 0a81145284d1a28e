/** Called with the errors that handlers throw; the caller only gets a failed status. */
export type Report = (error: unknown) => void

/**
 * Calls `onRejected` if a handler returned a promise that rejects. Without it, the rejection would end
 * the process. The value is unknown because handlers may be written in JavaScript.
 */
export function catchRejection(returned: unknown, onRejected: (error: unknown) => void): void {
  if (isThenable(returned)) Promise.resolve(returned).catch(onRejected)
}

/** True for a promise, also one from another library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}
