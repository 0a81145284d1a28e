import { isIP } from 'node:net'

/** An address of IPv4 in the clothes of IPv6, as it comes to who listens on `::`. */
const mapped = /^::ffff:(?=[\d.]+$)/i

/** The address of who asks: the first one in X-Forwarded-For, or that of the connection. */
export function findAddress(forwardedFor: string | undefined, remoteAddress: string): string {
  const connected = remoteAddress.replace(mapped, '')
  if (forwardedFor === undefined) return connected
  // Proxies that must not tell write `unknown` there.
  const texts = forwardedFor.split(',').map((text) => text.trim())
  return texts.find((text) => isIP(text) !== 0) ?? connected
}

/**
 * The first address in Sb-Forwarded-For, where the operator says that a proxy writes it. Undefined:
 * there is none, or nobody vouches for it.
 */
export function findVouchedAddress(
  isVouchedFor: boolean,
  forwardedFor: string | undefined,
): string | undefined {
  const first = forwardedFor?.split(',')[0]?.trim() ?? ''
  return isVouchedFor && isIP(first) !== 0 ? first : undefined
}

/**
 * What requests are limited by: the first value of the header that the operator trusts, else the
 * address of the connection. X-Forwarded-For is not trusted by itself: anybody can write it.
 */
export function findLimitKey(value: string | undefined, remoteAddress: string): string {
  const first = value?.split(',')[0]?.trim()
  return toNetwork(first ? first.slice(0, 256) : remoteAddress.replace(mapped, ''))
}

/** Who has one address of IPv6 has the whole network around it, and would be somebody new each time. */
function toNetwork(address: string): string {
  if (isIP(address) !== 6) return address
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, '')}]`)
  // An address of IPv4 in the clothes of IPv6 is one of many, and has no network of its own.
  if (hostname.startsWith('[::ffff:')) return hostname
  const [head = ''] = hostname.slice(1, -1).split('::')
  const groups = head.split(':').filter((group) => group !== '')
  return [...groups, '0', '0', '0', '0'].slice(0, 4).join(':')
}
