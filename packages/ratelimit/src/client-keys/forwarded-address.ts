/** Options of {@link forwardedAddress}. */
export interface ForwardedAddressOptions {
  /** The number of your own proxies that a request passes; each appends the address it sees. Default: 1. */
  readonly proxies?: number | undefined
}

/**
 * Reads the client's address from `X-Forwarded-For`, for hosts that do not do it themselves (`node:http`,
 * Hono, fetch handlers). Each proxy appends the address it received the request from, so only the last
 * `proxies` entries can be trusted; the ones before them are written by the client.
 *
 * @example
 * ```ts
 * import { forwardedAddress, ipKey } from '@portcullis/ratelimit'
 *
 * // A client that claims to be 10.0.0.1, seen by one proxy:
 * forwardedAddress('10.0.0.1, 203.0.113.7') // '203.0.113.7'
 * const key = (request: Request) => ipKey(forwardedAddress(request.headers.get('x-forwarded-for')))
 * ```
 *
 * @param header - the value of the header; a list where it occurred several times
 * @returns undefined when the header is absent or has fewer entries than there are proxies, which means
 * that the request did not pass all of them
 * @throws TypeError when `proxies` is not a whole number of at least 1
 */
export function forwardedAddress(
  header: string | readonly string[] | null | undefined,
  { proxies = 1 }: ForwardedAddressOptions = {},
): string | undefined {
  if (!Number.isInteger(proxies) || proxies < 1) {
    throw new TypeError(
      `forwardedAddress: proxies must be a whole number of at least 1, not ${proxies}`,
    )
  }
  if (header === null || header === undefined) return undefined
  const entries = (typeof header === 'string' ? header : header.join(',')).split(',')
  const address = entries.at(-proxies)?.trim()
  return address === '' ? undefined : address
}
