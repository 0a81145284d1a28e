import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { type ProxiesConfig, sbForwardedFor, xForwardedFor } from '../../config/api.ts'
import { toNetwork } from '../../limits/buckets.ts'

/** The origin of a request. All code that needs an address gets it from here. */
export interface ClientAddress {
  /** Empty if the connection was closed before its address was read. */
  readonly ip: string
  /** The key for request limits. */
  readonly limitKey: string
}

export interface ClientAddresses {
  find(headers: IncomingHttpHeaders, remoteAddress: string | undefined): ClientAddress
}

export interface ClientAddressSettings {
  readonly config: ProxiesConfig
  /** Called once, for the first forwarding header from an untrusted address. */
  readonly onUntrusted: (header: string, remoteAddress: string) => void
}

/** Headers to which proxies write only addresses. */
const forwardingHeaders: readonly string[] = [
  xForwardedFor,
  'forwarded',
  'x-real-ip',
  'x-client-ip',
  'cf-connecting-ip',
  'true-client-ip',
  sbForwardedFor,
]

/**
 * Reads the configured forwarding header, and only the value that a trusted proxy wrote: clients
 * can send any value, which ends up to the left of it. In all other cases the address of the
 * connection is used.
 */
export function createClientAddresses({
  config,
  onUntrusted,
}: ClientAddressSettings): ClientAddresses {
  const { headers: trustedHeaders, hops } = config
  const isTrusted = toTrustTest(config)
  let isReported = false

  const report = (headers: IncomingHttpHeaders, connected: string): void => {
    const header = [...trustedHeaders, ...forwardingHeaders].find((name) => name in headers)
    if (header === undefined) return
    isReported = true
    onUntrusted(header, connected)
  }
  const findValue = (headers: IncomingHttpHeaders): Value | undefined => {
    for (const header of trustedHeaders) {
      const line = headers[header]
      if (line === undefined) continue
      const value = pickValue(toTexts(`${line}`, header), header)
      if (value !== undefined) return value
    }
    return undefined
  }
  const pickValue = (texts: readonly string[], header: string): Value | undefined => {
    if (hops !== undefined) return toValue(texts.at(-hops), header)
    const last = texts.findLastIndex((text) => {
      const { ip } = toValue(text, header) ?? {}
      return ip === undefined || !isTrusted(ip)
    })
    return toValue(texts[Math.max(last, 0)], header)
  }
  return {
    find(headers, remoteAddress) {
      const connected = parseAddress(remoteAddress ?? '') ?? ''
      const isFromProxy = trustedHeaders.length > 0 && isTrusted(connected)
      if (!isFromProxy && !isReported) report(headers, connected)
      const value = isFromProxy ? findValue(headers) : undefined
      const ip = value?.ip ?? connected
      return { ip, limitKey: value?.text ?? toNetwork(ip) }
    },
  }
}

function toTrustTest({ trusted }: ProxiesConfig): (ip: string) => boolean {
  if (trusted.length === 0) return () => true
  const known = new BlockList()
  for (const { address, prefix, family } of trusted) known.addSubnet(address, prefix, family)
  return (ip) => ip !== '' && known.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4')
}

/** Node.js joins repeated headers with commas, in their order. */
function toTexts(line: string, header: string): readonly string[] {
  const texts = line.split(',')
  return header === 'forwarded' ? texts.map(readForwarded) : texts
}

/** RFC 7239, section 4: `for="[2001:db8::1]:4711";proto=https`. */
function readForwarded(element: string): string {
  return /(?:^|;)\s*for\s*=\s*"?([^";]*)/i.exec(element)?.[1] ?? ''
}

/**
 * One value of a forwarding header: an address or, if the header may contain other values, text.
 */
type Value =
  | { readonly ip: string; readonly text?: never }
  | { readonly ip?: never; readonly text: string }

/** Undefined if the value is unusable. */
function toValue(text: string | undefined, header: string): Value | undefined {
  const trimmed = text?.trim() ?? ''
  const ip = parseAddress(trimmed)
  if (ip !== undefined) return { ip }
  // AUTH_RATE_LIMIT_HEADER may name any header, such as one with an application key.
  const takesText = !forwardingHeaders.includes(header) && trimmed !== ''
  return takesText ? { text: trimmed.slice(0, 256) } : undefined
}

const form =
  /^(?:(?<v4>[\d.]+):\d{1,5}|\[(?<bracketed>[\da-f:.]+)(?:%[^\]]*)?\](?::\d{1,5})?|(?<v6>[\da-f:.]+)(?:%.*)?)$/i

/**
 * Normalises an address, without port, brackets and zone. Undefined if the text is not an address.
 */
export function parseAddress(text: string): string | undefined {
  if (isIP(text) === 4) return text
  const { v4 = '', bracketed, v6 } = form.exec(text)?.groups ?? {}
  if (isIP(v4) === 4) return v4
  const address = bracketed ?? v6 ?? ''
  if (isIP(address) !== 6) return undefined
  const spelled = new URL(`http://[${address}]`).hostname.slice(1, -1)
  return readMapped(spelled) ?? spelled
}

/** Reads an IPv4-mapped address, which a server that listens on `::` sees for IPv4 clients. */
function readMapped(spelled: string): string | undefined {
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(spelled) ?? []
  if (high === undefined || low === undefined) return undefined
  const halves = [Number.parseInt(high, 16), Number.parseInt(low, 16)]
  return halves.flatMap((half) => [half >> 8, half & 255]).join('.')
}

/**
 * Behind a proxy that is not configured, all users count as one client, which operators rarely
 * notice.
 */
export function toForwardingWarning(header: string, remoteAddress: string): string {
  return (
    `A request from ${remoteAddress} has the header ${header}, which is not trusted: limits, ` +
    'sessions and the audit log use the address of the connection, so all users behind a ' +
    `proxy share one limit. If ${remoteAddress} is your proxy, add it to ` +
    'AUTH_TRUSTED_PROXIES (or set AUTH_TRUSTED_HOPS=1 if only the proxy can connect). This is ' +
    'reported once'
  )
}
