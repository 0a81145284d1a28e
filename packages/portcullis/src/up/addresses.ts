import { isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Addresses of this machine that no other machine can reach. */
export function isLoopback(host: string): boolean {
  return host === '::1' || host.startsWith('127.')
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** How we reach what listens on this address ourselves. */
export function toOwnHost(host: string): string {
  if (isWildcard(host)) return '127.0.0.1'
  return isIPv6(host) ? `[${host}]` : host
}

export interface Place {
  readonly host: string
  /** Scheme and name by which others reach this machine, such as `https://gate.example.com`. */
  readonly publicUrl?: string | undefined
}

/** Scheme and host of the addresses that people are shown, and of the links in mails. */
export function toShownBase({ host, publicUrl }: Place): string {
  return publicUrl ?? `http://${toShownHost(host)}`
}

/** One that works: `localhost` is 127.0.0.1 and no other address of this machine. */
function toShownHost(host: string): string {
  if (host === '127.0.0.1') return 'localhost'
  return isWildcard(host) ? (listReachable(host)[0] ?? 'localhost') : toOwnHost(host)
}

/** The addresses at which other machines reach what listens on this one. */
export function listReachable(host: string): readonly string[] {
  if (isLoopback(host)) return []
  if (!isWildcard(host)) return [toOwnHost(host)]
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address, family }) => {
      // An address of one link cannot be used without the name of the link.
      if (internal || address.startsWith('fe80:')) return false
      return family === 'IPv4' || host === '::'
    })
    .sort((one, other) => one.family.localeCompare(other.family))
    .map(({ address }) => toOwnHost(address))
}

/** Names by which browsers may call the console, besides localhost and numbers. */
export function toAllowedHosts(
  { host, publicUrl }: Place,
  named: readonly string[],
): readonly string[] {
  const publicHost = publicUrl === undefined ? [] : [new URL(publicUrl).hostname]
  return [...listReachable(host), ...publicHost, ...named]
}

/** Whether it is a name without scheme and port. */
export function isHostName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)
}
