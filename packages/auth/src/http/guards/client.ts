import { isIP } from 'node:net'

/** The address of who asks: the first in X-Forwarded-For, or that of the connection. */
export function findAddress(forwardedFor: string | undefined, remoteAddress: string): string {
  const first = forwardedFor?.split(',')[0]?.trim() ?? ''
  return isIP(first) === 0 ? remoteAddress : first
}

/**
 * What requests are limited by: the first value of the header that the operator trusts, else the
 * address of the connection. X-Forwarded-For is not trusted by itself: anybody can write it.
 */
export function findLimitKey(value: string | undefined, remoteAddress: string): string {
  const first = value?.split(',')[0]?.trim()
  return first ? first.slice(0, 256) : remoteAddress
}
