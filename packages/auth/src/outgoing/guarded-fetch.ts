import { lookup as lookupHost } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { request as requestHttp } from '@portcullis/service-kit/http'
import { toReason } from '@portcullis/service-kit/text/reason'
import { classifyAddress } from './address-check.ts'
import { type HttpResponse, OutgoingError, readLimited } from './http-client.ts'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

export interface FetchSettings {
  readonly timeoutMs: number
  readonly maxBytes: number
  /**
   * Hosts that may be in the internal network. A redirect from another host is never followed
   * there.
   */
  readonly internalHosts: readonly string[]
  /** Whether only https is allowed, also after a redirect. Default: false. */
  readonly requiresTls?: boolean
  /** Default: 3. */
  readonly mostRedirects?: number
  /** Default: DNS; tests replace it. */
  readonly resolve?: (host: string) => Promise<readonly ResolvedAddress[]>
  /** Additional trusted certificate authorities, as PEM; for tests. */
  readonly ca?: string
}

const defaultRedirects = 3
const redirectStatuses = new Set([301, 302, 303, 307, 308])

/**
 * Fetches the text at a configured URL. Regardless of the URL, DNS and redirects, the connection is
 * made only to an address that was checked, and each redirect is checked again.
 * @throws {OutgoingError}
 */
export async function fetchGuarded(start: URL, settings: FetchSettings): Promise<string> {
  const signal = AbortSignal.timeout(settings.timeoutMs)
  const { mostRedirects = defaultRedirects } = settings
  let url = start
  try {
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      const isInternalAllowed =
        url.hostname === start.hostname && settings.internalHosts.includes(url.hostname)
      const response = await open(url, isInternalAllowed, settings, {
        signal,
        headers: pageHeaders,
      })
      const status = response.statusCode ?? 0
      if (status === 200) return await readText(response, settings.maxBytes)
      response.destroy()
      const { location } = response.headers
      if (!redirectStatuses.has(status) || location === undefined) {
        throw new OutgoingError(`the response status was ${status}`)
      }
      const target = URL.parse(location, url)
      if (target === null) throw new OutgoingError('it redirects to an invalid URL')
      url = target
    }
  } catch (error) {
    if (signal.aborted) throw new OutgoingError(`no response within ${settings.timeoutMs} ms`)
    throw error instanceof OutgoingError ? error : new OutgoingError(toReason(error))
  }
  throw new OutgoingError(`more than ${mostRedirects} redirects`)
}

/**
 * Sends one request, and follows no redirect, to an address that was checked.
 * @throws {OutgoingError} whose message names the host and nothing else of the request.
 */
export async function requestGuarded(
  text: string,
  { method, headers, body }: RequestInit,
  settings: FetchSettings,
): Promise<HttpResponse> {
  const signal = AbortSignal.timeout(settings.timeoutMs)
  const url = new URL(text)
  try {
    const isForm = body instanceof URLSearchParams
    const response = await open(url, settings.internalHosts.includes(url.hostname), settings, {
      signal,
      method: method ?? 'GET',
      headers: {
        ...Object.fromEntries(new Headers(headers)),
        ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(isForm && { body: `${body}` }),
    })
    return {
      status: response.statusCode ?? 0,
      headers: new Headers({ 'content-type': response.headers['content-type'] ?? '' }),
      text: await readText(response, settings.maxBytes),
    }
  } catch (error) {
    if (signal.aborted) {
      throw new OutgoingError(`${url.host} did not respond within ${settings.timeoutMs} ms`)
    }
    if (error instanceof OutgoingError) throw error
    throw new OutgoingError(`${url.host} cannot be reached: ${toReason(error)}`, { cause: error })
  }
}

const pageHeaders = {
  accept: 'text/html, text/plain, */*',
  'user-agent': 'portcullis-auth',
} as const

interface OpenOptions {
  readonly signal: AbortSignal
  readonly method?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

async function open(
  url: URL,
  isInternalAllowed: boolean,
  settings: FetchSettings,
  { body, ...options }: OpenOptions,
): Promise<IncomingMessage> {
  if (settings.requiresTls && url.protocol !== 'https:') {
    throw new OutgoingError(`${url.protocol} is not https`)
  }
  const request = { 'http:': requestHttp, 'https:': requestHttps }[url.protocol]
  if (request === undefined) throw new OutgoingError(`${url.protocol} is neither http nor https`)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = await findAddresses(host, isInternalAllowed, settings.resolve ?? resolveHost)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const outgoing = request(url, {
    agent: false,
    ...options,
    // The checked addresses are used without another DNS query, whose result could differ.
    lookup: toLookup(addresses),
    ...(settings.ca === undefined ? {} : { ca: settings.ca }),
  })
  outgoing.on('error', reject)
  outgoing.on('response', resolve)
  outgoing.end(body)
  return await promise
}

async function findAddresses(
  host: string,
  isInternalAllowed: boolean,
  resolve: (host: string) => Promise<readonly ResolvedAddress[]>,
): Promise<readonly ResolvedAddress[]> {
  const family = isIP(host)
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }]
  if (addresses.length === 0) throw new OutgoingError(`${host} has no address`)
  for (const { address } of addresses) {
    const addressClass = classifyAddress(address)
    if (addressClass === 'public' || (addressClass === 'internal' && isInternalAllowed)) continue
    throw new OutgoingError(`${host} is at ${address}, which is not a public address`)
  }
  return addresses
}

async function resolveHost(host: string): Promise<readonly ResolvedAddress[]> {
  return await lookupHost(host, { all: true })
}

/** For agents that keep connections: each connection is made to a checked address. */
export function createGuardedLookup(
  isInternalAllowed: boolean,
  resolve: (host: string) => Promise<readonly ResolvedAddress[]> = resolveHost,
): LookupFunction {
  return (host, options, callback) => {
    findAddresses(host, isInternalAllowed, resolve).then(
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
  throw new OutgoingError(`the response is longer than ${maxBytes} bytes`)
}
