import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Whether only this machine can reach the address. */
export function isLoopback(host: string): boolean {
  return host === '::1' || host.startsWith('127.')
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** Returns the host for connections from this machine to a listener on this address. */
export function toLocalHost(host: string): string {
  if (isWildcard(host)) return '127.0.0.1'
  return isIPv6(host) ? `[${host}]` : host
}

export interface Place {
  readonly host: string
  /** Scheme and host name under which others reach this machine, such as `https://gate.example.com`. */
  readonly publicUrl?: string | undefined
}

/** Returns scheme and host of printed addresses and of links in emails. */
export function toShownBase({ host, publicUrl }: Place): string {
  return publicUrl ?? `http://${toShownHost(host)}`
}

/** Returns a host that works in a browser; `localhost` stands only for 127.0.0.1. */
function toShownHost(host: string): string {
  if (host === '127.0.0.1') return 'localhost'
  return isWildcard(host) ? (listReachable(host)[0] ?? 'localhost') : toLocalHost(host)
}

/** Lists the addresses at which other machines reach a listener on this address. */
export function listReachable(host: string): readonly string[] {
  if (isLoopback(host)) return []
  if (!isWildcard(host)) return [toLocalHost(host)]
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address, family }) => {
      // Link-local addresses cannot be used without the name of the interface.
      if (internal || address.startsWith('fe80:')) return false
      return family === 'IPv4' || host === '::'
    })
    .sort((one, other) => one.family.localeCompare(other.family))
    .map(({ address }) => toLocalHost(address))
}

/** Returns the host names that browsers may use for the console, besides localhost and IP addresses. */
export function toAllowedHosts(
  { host, publicUrl }: Place,
  named: readonly string[],
): readonly string[] {
  const publicHost = publicUrl === undefined ? [] : [new URL(publicUrl).hostname]
  return [...listReachable(host), ...publicHost, ...named]
}

/** Whether the text is a host name without scheme and port. */
export function isHostName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)
}
