/** The options that every adapter has in addition to those of the core handler. */
export interface AdapterOptions {
  /**
   * The largest request body to accept, in bytes. A larger one is answered with 413 and is not kept in
   * memory. Default: 1 MiB; `false` accepts any size.
   *
   * Behind a body parser the default is the limit of the parser. A limit that you set applies in addition.
   */
  readonly bodyLimitBytes?: number | false | undefined
  /**
   * Add `Accept` to the `Vary` header of every response, because the response depends on it. Set it
   * when caches sit between server and client. Default: false.
   */
  readonly vary?: boolean | undefined
}

/** Names of the options that the core handler does not know. */
export const adapterOptionNames: readonly string[] = ['bodyLimitBytes', 'vary']

/** Limits in bytes; infinite when there is no limit. */
export interface BodyLimits {
  /** For bodies that the adapter reads. */
  readonly read: number
  /** For bodies that a parser of the host has already read, within the parser's own limit. */
  readonly parsed: number
}

const defaultLimitBytes = 1024 * 1024

export function parseBodyLimits({ bodyLimitBytes }: AdapterOptions): BodyLimits {
  if (bodyLimitBytes === undefined) {
    return { read: defaultLimitBytes, parsed: Number.POSITIVE_INFINITY }
  }
  const limit = bodyLimitBytes === false ? Number.POSITIVE_INFINITY : bodyLimitBytes
  if (typeof limit !== 'number' || !(limit >= 0)) {
    throw new TypeError(
      'The option "bodyLimitBytes" must be a number of bytes, zero or more, for example ' +
        `1_000_000, or false for no limit. Got: ${String(bodyLimitBytes)}`,
    )
  }
  return { read: limit, parsed: limit }
}
