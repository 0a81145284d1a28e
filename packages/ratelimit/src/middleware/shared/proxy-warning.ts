import { ipKey } from '../../client-keys/ip-key.ts'
import type { Descriptors } from './options.ts'

/** What a host knows about where a request comes from. */
export interface Peer<Args extends readonly unknown[]> {
  /** The value of a request header; the name is in lower case. */
  readonly findHeader: (name: string, ...args: Args) => unknown
  /** The address of the connection; undefined where it is unknown, or where a proxy is trusted. */
  readonly findUntrustedAddress: (...args: Args) => string | undefined
  /** How to trust a proxy, as a sentence. */
  readonly advice: string
}

const forwardedHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'cf-connecting-ip'] as const

/**
 * Finds requests that a proxy passed on and that are counted by the address of the connection, which is the
 * proxy's: all clients share one counter then.
 *
 * @returns the text of the warning for such a request
 */
export function findProxyFault<Args extends readonly unknown[]>(
  { findHeader, findUntrustedAddress, advice }: Peer<Args>,
  descriptors: Descriptors,
  args: Args,
): string | undefined {
  const header = forwardedHeaders.find((name) => findHeader(name, ...args) !== undefined)
  if (header === undefined) return undefined
  const address = findUntrustedAddress(...args)
  if (address === undefined || !isCountedBy(address, descriptors)) return undefined
  return (
    `A request with the header ${header} was counted by the address of its connection. ` +
    `Behind a proxy that is the proxy's address, so that all clients share one limit. ${advice} ` +
    'If there is no proxy, a client sent the header: set `warn: false`.'
  )
}

function isCountedBy(address: string, descriptors: Descriptors): boolean {
  const key = ipKey(address)
  return descriptors.some((descriptor) => {
    const { entries } = descriptor
    const values: unknown[] = Array.isArray(entries)
      ? entries.map(({ value }) => value)
      : Object.values(descriptor)
    return values.some(
      (value) => typeof value === 'string' && (value.includes(address) || value.includes(key)),
    )
  })
}
