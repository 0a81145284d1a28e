import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import type { Check } from '@portcullis/service-kit/settings/config-check'
import {
  boolean,
  type Chapter,
  choice,
  duration,
  integer,
  list,
  port,
  type Settings,
  string,
} from '@portcullis/service-kit/settings/env'
import {
  checkDuration,
  checkHeaderName,
  checkHost,
  checkPresent,
  checkWebUrl,
  oneDay,
} from './checks.ts'
import { type CompatChoice, compatModes } from './compatibility.ts'
import { withOldNames } from './variables.ts'

export const api = {
  title: 'HTTP server',
  variables: withOldNames({
    host: string('AUTH_API_HOST', '', 'Address to listen on', { defaultText: 'all addresses' }),
    port: port('AUTH_API_PORT', 8081, 'Port to listen on', {
      aliases: ['PORT', 'AUTH_PORT', 'GOTRUE_PORT'],
    }),
    externalUrl: string('AUTH_API_EXTERNAL_URL', '', 'Public URL of this server', {
      aliases: ['API_EXTERNAL_URL'],
    }),
    pathPrefix: string(
      'AUTH_API_PATH_PREFIX',
      '',
      'Path prefix under which all endpoints are served as well, such as /auth/v1',
    ),
    requestIdHeader: string(
      'AUTH_REQUEST_ID_HEADER',
      '',
      'Request header whose value is used as the request id',
      { aliases: ['REQUEST_ID_HEADER'] },
    ),
    maxRequestDurationMs: duration(
      'AUTH_API_MAX_REQUEST_DURATION',
      '10s',
      'Time limit of a request; after it the response is 504, although work already started may still complete',
    ),
    bodyLimitBytes: integer(
      'AUTH_API_BODY_LIMIT_BYTES',
      1_048_576,
      'Maximum size of a request body in bytes',
      { min: 1_024 },
    ),
    corsAllowedHeaders: list(
      'AUTH_CORS_ALLOWED_HEADERS',
      [],
      'Additional request headers that CORS allows',
    ),
    compatMode: choice(
      'AUTH_COMPAT_MODE',
      compatModes,
      'auto',
      "Which behaviour requests get where this server's own API differs from that of Supabase Auth: its own " +
        '(specification), that of Supabase Auth (upstream), or that of Supabase Auth only with the header ' +
        'X-Supabase-Api-Version (auto)',
      { defaultText: 'upstream if any GOTRUE_ variable is set, otherwise auto' },
    ),
    drainTimeoutMs: duration(
      'AUTH_DRAIN_TIMEOUT',
      '60s',
      'How long requests in progress may take to complete after a shutdown signal',
    ),
  }),
} satisfies Chapter

export interface ApiConfig extends CompatChoice {
  /** Undefined: listens on all addresses. */
  readonly host: string | undefined
  readonly port: number
  /** Has no trailing slash. */
  readonly externalUrl: string
  /** Starts with a slash, or is empty. */
  readonly pathPrefix: string
  readonly requestIdHeader: string | undefined
  readonly maxRequestDurationMs: number
  readonly bodyLimitBytes: number
  readonly corsAllowedHeaders: readonly string[]
  readonly drainTimeoutMs: number
}

const longestRequestMs = 3_600_000

export function toApi(
  settings: Settings<typeof api.variables>,
  compat: CompatChoice,
  check: Check,
): ApiConfig {
  const { variables } = api
  checkPresent(variables.externalUrl, settings.externalUrl, check)
  const externalUrl = settings.externalUrl.trim()
  checkWebUrl(variables.externalUrl, externalUrl, check)
  const requestIdHeader = settings.requestIdHeader.trim()
  checkHeaderName(variables.requestIdHeader, requestIdHeader, check)
  for (const name of settings.corsAllowedHeaders) {
    checkHeaderName(variables.corsAllowedHeaders, name, check)
  }
  checkHost(variables.host, settings.host.trim(), check)
  checkDuration(variables.drainTimeoutMs, settings.drainTimeoutMs, oneDay, check)
  const pathPrefix = settings.pathPrefix.replace(/\/+$/, '')
  if (pathPrefix !== '' && !/^(?:\/[\w.~-]+)+$/.test(pathPrefix)) {
    check.fault(variables.pathPrefix, 'must be a path such as /auth/v1')
  }
  if (settings.maxRequestDurationMs < 1 || settings.maxRequestDurationMs > longestRequestMs) {
    check.fault(variables.maxRequestDurationMs, 'must be between 1ms and 1h')
  }
  return {
    ...settings,
    ...compat,
    host: settings.host.trim() || undefined,
    externalUrl: externalUrl.replace(/\/+$/, ''),
    pathPrefix,
    requestIdHeader: requestIdHeader.toLowerCase() || undefined,
  }
}

export const proxies = {
  title: 'Behind a proxy',
  variables: withOldNames({
    hops: integer(
      'AUTH_TRUSTED_HOPS',
      0,
      'Number of proxies in front of this server that append an address to the forwarding header ' +
        '(AUTH_RATE_LIMIT_HEADER, or X-Forwarded-For); the client address is this many values from the right',
      { max: 100, defaultText: '1 with AUTH_RATE_LIMIT_HEADER, otherwise no header is trusted' },
    ),
    addresses: list(
      'AUTH_TRUSTED_PROXIES',
      [],
      'Addresses of trusted proxies, such as 10.0.0.0/8,2001:db8::1. A forwarding header is used only ' +
        'if one of these sent it. Without AUTH_TRUSTED_HOPS, the client is the last address in the ' +
        'header that is not listed here',
      { defaultText: 'none' },
    ),
    takesSbForwardedFor: boolean(
      'AUTH_SECURITY_SB_FORWARDED_FOR_ENABLED',
      false,
      'Whether to prefer the Sb-Forwarded-For header as forwarding header; enable it only if a ' +
        'proxy sets that header',
    ),
  }),
} satisfies Chapter

/**
 * Which forwarding headers are trusted, and from which senders; see
 * `http/stages/client-address.ts`.
 */
export interface ProxiesConfig {
  /** Header names in lower case; the first with a usable value is used. Empty: none is trusted. */
  readonly headers: readonly string[]
  /** Undefined: the client is the last address that is not a trusted proxy. */
  readonly hops: number | undefined
  /** Empty: a trusted header is accepted from any sender. */
  readonly trusted: readonly Subnet[]
}

export interface Subnet {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

export const noProxyRemark =
  'No proxy is trusted, so clients are identified by the address of their connection. Behind a ' +
  'proxy, all users would share one limit: set AUTH_TRUSTED_PROXIES (or AUTH_TRUSTED_HOPS)'

export const sbForwardedFor = 'sb-forwarded-for'
export const xForwardedFor = 'x-forwarded-for'

/** @param limitHeader AUTH_RATE_LIMIT_HEADER in lower case. */
export function toProxies(
  settings: Settings<typeof proxies.variables>,
  limitHeader: string | undefined,
  check: Check,
): ProxiesConfig {
  const { variables } = proxies
  const { hops, takesSbForwardedFor } = settings
  const subnets = settings.addresses.map(parseSubnet)
  for (const [at, subnet] of subnets.entries()) {
    if (subnet !== undefined) continue
    const message = `${settings.addresses[at]} is not an address or a network such as 10.0.0.0/8`
    check.fault(variables.addresses, message)
  }
  const trusted = subnets.filter((subnet) => subnet !== undefined)
  const isListed = settings.addresses.length > 0
  if (check.isSet(variables.hops) && hops === 0 && limitHeader !== undefined && !isListed) {
    check.fault(variables.hops, 'must be at least 1: AUTH_RATE_LIMIT_HEADER would have no effect')
  }
  const header = limitHeader ?? (hops > 0 || isListed ? xForwardedFor : undefined)
  return {
    headers: [takesSbForwardedFor ? sbForwardedFor : undefined, header].filter(
      (name) => name !== undefined,
    ),
    hops: hops > 0 ? hops : isListed ? undefined : 1,
    trusted,
  }
}

function parseSubnet(text: string): Subnet | undefined {
  const [, address = '', digits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  const longest = version === 4 ? 32 : 128
  const prefix = digits === undefined ? longest : Number(digits)
  if (version === 0 || prefix > longest) return undefined
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' }
}

export const processes = {
  title: 'Processes',
  variables: withOldNames({
    workers: string(
      'AUTH_WORKERS',
      '1',
      'Number of worker processes that share the port; auto or 0: one per CPU core',
      { aliases: ['WORKERS'] },
    ),
  }),
} satisfies Chapter

const mostWorkers = 1_024

/** Returns the number of worker processes. */
export function toWorkers(
  settings: Settings<typeof processes.variables>,
  check: Check,
  cores = availableParallelism(),
): number {
  const text = settings.workers.trim().toLowerCase()
  if (text === '') return 1
  if (text === 'auto') return cores
  const count = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN
  if (count <= mostWorkers) return count || cores
  check.fault(
    processes.variables.workers,
    `must be a whole number from 0 to ${mostWorkers}, or auto`,
  )
  return 1
}
