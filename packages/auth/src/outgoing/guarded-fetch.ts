import { lookup as lookupHost } from 'node:dns/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { toReach } from './address-check.ts'
import { OutgoingError, readLimited } from './http-client.ts'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

export interface FetchSettings {
  readonly timeoutMs: number
  readonly maxBytes: number
  /**
   * Hosts that may be in the network of the house. A redirect from another host never leads there.
   */
  readonly insideHosts: readonly string[]
  /** The DNS, unless a test stands in for it. */
  readonly resolve?: (host: string) => Promise<readonly ResolvedAddress[]>
  /** More authorities to trust, as PEM; a test has its own. */
  readonly ca?: string
}

const maxRedirects = 3
const redirectStatuses = new Set([301, 302, 303, 307, 308])

/**
 * The text at a URL that somebody configured. Whatever that URL, the DNS or a redirect says, the
 * connection goes to an address that was checked, and the same check holds after each redirect.
 * @throws {OutgoingError}
 */
export async function fetchGuarded(start: URL, settings: FetchSettings): Promise<string> {
  const signal = AbortSignal.timeout(settings.timeoutMs)
  let url = start
  try {
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      const isInsideAllowed =
        url.hostname === start.hostname && settings.insideHosts.includes(url.hostname)
      const response = await get(url, isInsideAllowed, settings, signal)
      const status = response.statusCode ?? 0
      if (status === 200) return await readText(response, settings.maxBytes)
      response.destroy()
      const { location } = response.headers
      if (!redirectStatuses.has(status) || location === undefined) {
        throw new OutgoingError(`the answer was ${status}`)
      }
      const target = URL.parse(location, url)
      if (target === null) throw new OutgoingError('it redirects to what is not a URL')
      url = target
    }
  } catch (error) {
    if (signal.aborted) throw new OutgoingError(`no answer within ${settings.timeoutMs} ms`)
    throw error instanceof OutgoingError ? error : new OutgoingError(toReason(error))
  }
  throw new OutgoingError(`more than ${maxRedirects} redirects`)
}

async function get(
  url: URL,
  isInsideAllowed: boolean,
  settings: FetchSettings,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = { 'http:': requestHttp, 'https:': requestHttps }[url.protocol]
  if (request === undefined) throw new OutgoingError(`${url.protocol} is neither http nor https`)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = await findAddresses(host, isInsideAllowed, settings.resolve ?? resolveHost)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const outgoing = request(url, {
    agent: false,
    signal,
    // Not asked again, so nobody can answer differently this time.
    lookup: toLookup(addresses),
    headers: { accept: 'text/html, text/plain, */*', 'user-agent': 'portcullis-auth' },
    ...(settings.ca === undefined ? {} : { ca: settings.ca }),
  })
  outgoing.on('error', reject)
  outgoing.on('response', resolve)
  outgoing.end()
  return await promise
}

async function findAddresses(
  host: string,
  isInsideAllowed: boolean,
  resolve: (host: string) => Promise<readonly ResolvedAddress[]>,
): Promise<readonly ResolvedAddress[]> {
  const family = isIP(host)
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }]
  if (addresses.length === 0) throw new OutgoingError(`${host} has no address`)
  for (const { address } of addresses) {
    const reach = toReach(address)
    if (reach === 'outside' || (reach === 'inside' && isInsideAllowed)) continue
    throw new OutgoingError(`${host} is at ${address}, which is not an address of the internet`)
  }
  return addresses
}

async function resolveHost(host: string): Promise<readonly ResolvedAddress[]> {
  return await lookupHost(host, { all: true })
}

/** For connections that outlive one request: each is made to an address that was checked. */
export function createGuardedLookup(
  isInsideAllowed: boolean,
  resolve: (host: string) => Promise<readonly ResolvedAddress[]> = resolveHost,
): LookupFunction {
  return (host, options, callback) => {
    findAddresses(host, isInsideAllowed, resolve).then(
      (addresses) => toLookup(addresses)(host, options, callback),
      (error: Error) => callback(error, []),
    )
  }
}

function toLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses
    if (options.all) callback(null, [...addresses])
    else callback(null, first?.address ?? '', first?.family)
  }
}

async function readText(response: IncomingMessage, maxBytes: number): Promise<string> {
  const text = await readLimited(response, maxBytes)
  if (text !== undefined) return text
  throw new OutgoingError(`it is longer than ${maxBytes} bytes`)
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
