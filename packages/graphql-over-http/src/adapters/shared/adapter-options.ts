/** What every adapter understands beside the options of the core handler. */
export interface AdapterOptions {
  /**
   * The largest request body to accept, in bytes. A larger one is answered with 413 and is not kept
   * in memory. Without it there is no limit other than the host's own.
   */
  readonly bodyLimitBytes?: number | undefined
  /**
   * Add `Accept` to the `Vary` header of every answer, because the answer depends on it. Wanted
   * where caches sit between server and client.
   */
  readonly vary?: boolean | undefined
}

/** The limit as a number to compare with; infinite when there is none. */
export function parseBodyLimit({ bodyLimitBytes }: AdapterOptions): number {
  if (bodyLimitBytes === undefined) return Number.POSITIVE_INFINITY
  if (typeof bodyLimitBytes !== 'number' || !(bodyLimitBytes >= 0)) {
    throw new TypeError(
      'The option "bodyLimitBytes" must be a number of bytes, zero or more, for example ' +
        `1_000_000; leave it out for no limit. Got: ${String(bodyLimitBytes)}`,
    )
  }
  return bodyLimitBytes
}
