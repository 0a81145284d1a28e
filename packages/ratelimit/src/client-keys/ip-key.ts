/** Options of {@link ipKey}. */
export interface IpKeyOptions {
  /**
   * How many leading bits of an IPv6 address are counted together, from 1 to 128. Providers assign whole
   * networks, so that a client which is counted by its full address can use a new one for each request.
   * Default: 64.
   */
  readonly v6?: number | undefined
}

/** What {@link ipKey} returns for a value that is not an IP address. */
const unknownAddress = 'unknown'

/**
 * Turns the address of a client into the value to count it by: an IPv4 address as it is, an IPv6 address as
 * its network. A port, brackets, a zone (`%eth0`) and the prefix of an IPv4-mapped address (`::ffff:`) are
 * removed. Anything else, `undefined` included, becomes `unknown`, so that malformed addresses share one
 * counter instead of having one each.
 *
 * @example
 * ```ts
 * import { ipKey } from '@portcullis/ratelimit'
 *
 * ipKey('::ffff:203.0.113.7') // '203.0.113.7'
 * ipKey('2001:db8:1:2:3:4:5:6') // '2001:db8:1:2::/64'
 * ipKey('2001:db8:1:2:3:4:5:6', { v6: 48 }) // '2001:db8:1::/48'
 * ```
 *
 * @param address - from the framework or the socket, such as `request.ip`
 * @throws TypeError when `v6` is not a whole number from 1 to 128
 */
export function ipKey(address: string | null | undefined, { v6 = 64 }: IpKeyOptions = {}): string {
  if (!Number.isInteger(v6) || v6 < 1 || v6 > 128) {
    throw new TypeError(`ipKey: v6 must be a whole number of bits from 1 to 128, not ${v6}`)
  }
  if (typeof address !== 'string') return unknownAddress
  // Loaded on first use; servers have loaded it anyway.
  const { isIPv4, isIPv6 } = globalThis.process.getBuiltinModule('node:net')
  if (isIPv4(address)) return address
  const bare = withoutPort(address.trim())
  if (isIPv4(bare)) return bare
  if (!isIPv6(bare)) return unknownAddress
  const groups = toGroups(withoutZone(bare))
  return toMappedIPv4(groups) ?? toNetwork(groups, v6)
}

/** `203.0.113.7:443` and `[2001:db8::1]:443`; an IPv6 address without brackets has no port. */
function withoutPort(address: string): string {
  const { v6, v4 } =
    /^(?:\[(?<v6>[^\]]*)\](?::\d+)?|(?<v4>[\d.]+):\d+)$/.exec(address)?.groups ?? {}
  return v6 ?? v4 ?? address
}

function withoutZone(address: string): string {
  const zone = address.indexOf('%')
  return zone === -1 ? address : address.slice(0, zone)
}

/** The eight groups of a valid IPv6 address. */
function toGroups(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const before = parseGroups(head)
  const after = tail === undefined ? [] : parseGroups(tail)
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return [...before, ...zeros, ...after]
}

function parseGroups(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

/** Dual-stack sockets write IPv4 clients as ::ffff:203.0.113.7 (RFC 4291, 2.5.5.2). */
function toMappedIPv4(groups: readonly number[]): string | undefined {
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : undefined
}

function toNetwork(groups: readonly number[], bits: number): string {
  const masked = groups.map((group, index) => {
    const kept = Math.min(16, Math.max(0, bits - index * 16))
    return group & (0xffff << (16 - kept)) & 0xffff
  })
  if (bits === 128) return masked.map((group) => group.toString(16)).join(':')
  const end = masked.findLastIndex((group) => group !== 0) + 1
  const significant = masked.slice(0, end).map((group) => group.toString(16))
  return `${significant.join(':')}${end === 8 ? '' : '::'}/${bits}`
}
