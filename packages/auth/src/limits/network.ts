import { isIP } from 'node:net'

/** The owner of an IPv6 address has the whole network around it, and could change it at each request. */
export function toNetwork(ip: string): string {
  if (isIP(ip) !== 6) return ip
  const [head = ''] = ip.split('::')
  const groups = head.split(':').filter((group) => group !== '')
  return [...groups, '0', '0', '0', '0'].slice(0, 4).join(':')
}
