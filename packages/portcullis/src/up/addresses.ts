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

/** How people write it: a name where there is one. */
export function toShownHost(host: string): string {
  return isLoopback(host) || isWildcard(host) ? 'localhost' : toOwnHost(host)
}

/** By which addresses browsers of other machines may come. */
export function toAllowedHosts(host: string): readonly string[] {
  if (isLoopback(host)) return []
  if (!isWildcard(host)) return [toOwnHost(host)]
  return Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .map(({ address }) => toOwnHost(address))
}
