import { BlockList, isIP } from 'node:net'

/** Private networks: this machine and the internal network. */
const internal = new BlockList()
internal.addSubnet('10.0.0.0', 8, 'ipv4')
internal.addSubnet('100.64.0.0', 10, 'ipv4')
internal.addSubnet('127.0.0.0', 8, 'ipv4')
internal.addSubnet('172.16.0.0', 12, 'ipv4')
internal.addSubnet('192.168.0.0', 16, 'ipv4')
internal.addAddress('::1', 'ipv6')
internal.addSubnet('fc00::', 7, 'ipv6')

/**
 * Addresses that never have public pages: link-local (metadata services), multicast, reserved and
 * documentation networks.
 */
const forbidden = new BlockList()
forbidden.addSubnet('0.0.0.0', 8, 'ipv4')
forbidden.addSubnet('169.254.0.0', 16, 'ipv4')
forbidden.addSubnet('192.0.0.0', 24, 'ipv4')
forbidden.addSubnet('192.0.2.0', 24, 'ipv4')
forbidden.addSubnet('192.88.99.0', 24, 'ipv4')
forbidden.addSubnet('198.18.0.0', 15, 'ipv4')
forbidden.addSubnet('198.51.100.0', 24, 'ipv4')
forbidden.addSubnet('203.0.113.0', 24, 'ipv4')
forbidden.addSubnet('224.0.0.0', 3, 'ipv4')
// The metadata services of two clouds, whose addresses are in networks that may be internal.
forbidden.addAddress('100.100.100.200', 'ipv4')
forbidden.addAddress('fd00:ec2::254', 'ipv6')
forbidden.addAddress('fd20:ce::254', 'ipv6')
forbidden.addSubnet('2001::', 23, 'ipv6')
forbidden.addSubnet('2001:db8::', 32, 'ipv6')
// Tunnels embed an IPv4 address, which could be any.
forbidden.addSubnet('2002::', 16, 'ipv6')
forbidden.addSubnet('3fff::', 20, 'ipv6')

const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

/** `forbidden` addresses must never be requested, not even if internal ones are allowed. */
export type AddressClass = 'public' | 'internal' | 'forbidden'

export function classifyAddress(address: string): AddressClass {
  const version = isIP(address)
  if (version === 0) return 'forbidden'
  const plain = address.replace(/%.*$/, '')
  const mapped = version === 6 ? toMappedIpv4(plain) : undefined
  if (mapped !== undefined) return classifyAddress(mapped)
  const family = version === 4 ? 'ipv4' : 'ipv6'
  if (forbidden.check(plain, family)) return 'forbidden'
  if (internal.check(plain, family)) return 'internal'
  return family === 'ipv4' || globalUnicast.check(plain, family) ? 'public' : 'forbidden'
}

/** `::ffff:127.0.0.1` and `::ffff:7f00:1` are 127.0.0.1, in any spelling of the zeros. */
function toMappedIpv4(address: string): string | undefined {
  const canonical = new URL(`http://[${address}]`).hostname
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(canonical) ?? []
  if (high === undefined || low === undefined) return undefined
  const [h, l] = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return [h >> 8, h & 255, l >> 8, l & 255].join('.')
}
