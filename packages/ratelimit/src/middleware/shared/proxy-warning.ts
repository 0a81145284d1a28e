import { ipKey } from '../../client-keys/ip-key.ts'
import type { KeyValues } from '../../limiter/rules/limits.ts'
import type { Descriptors } from './options.ts'

/** What a host knows about the origin of a request. */
export interface Peer<Args extends readonly unknown[]> {
  /** The value of a request header; the name is in lower case. */
  readonly findHeader: (name: string, ...args: Args) => unknown
  /** The address of the connection; undefined if it is unknown, or if a proxy is trusted. */
  readonly findUntrustedAddress: (...args: Args) => string | undefined
  /** How to trust a proxy, as a sentence. */
  readonly advice: string
}

const forwardedHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'cf-connecting-ip'] as const

/**
 * Detects requests that were forwarded by a proxy but are counted by the address of the connection, which is
 * the proxy's: all clients then share one counter.
 *
 * @returns the text of the warning for such a request
 */
export function findProxyFault<Args extends readonly unknown[]>(
  { findHeader, findUntrustedAddress, advice }: Peer<Args>,
  counted: Descriptors | KeyValues,
  args: Args,
): string | undefined {
  const header = forwardedHeaders.find((name) => findHeader(name, ...args) !== undefined)
  if (header === undefined) return undefined
  const address = findUntrustedAddress(...args)
  if (address === undefined || !isCountedBy(address, counted)) return undefined
  return (
    `A request with the header ${header} was counted by the address of its connection. ` +
    `Behind a proxy that is the proxy's address, so that all clients share one limit. ${advice} ` +
    'If there is no proxy, a client sent the header: set `warn: false`.'
  )
}

function isCountedBy(address: string, counted: Descriptors | KeyValues): boolean {
  const key = ipKey(address)
  return listValues(counted).some(
    (value) => typeof value === 'string' && (value.includes(address) || value.includes(key)),
  )
}

function listValues(counted: Descriptors | KeyValues): unknown[] {
  if (!isList(counted)) return Object.values(counted)
  return counted.flatMap((descriptor) => {
    const { entries } = descriptor
    return Array.isArray(entries) ? entries.map(({ value }) => value) : Object.values(descriptor)
  })
}

function isList(counted: Descriptors | KeyValues): counted is Descriptors {
  return Array.isArray(counted)
}
