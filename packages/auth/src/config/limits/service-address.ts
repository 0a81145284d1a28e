/** The service in which processes share their request counts, parsed from a URL. */
export type LimitServiceAddress = RedisService | GrpcService

export interface RedisService {
  readonly kind: 'redis'
  readonly shape: 'single' | 'cluster' | 'sentinel'
  readonly isEncrypted: boolean
  readonly hosts: readonly RedisHost[]
  readonly username: string | undefined
  readonly password: string | undefined
  /** Always 0 for a cluster. */
  readonly database: number
  /** The name of the primary as the sentinels know it; empty without sentinels. */
  readonly primaryName: string
  /** Prepended to all keys. */
  readonly prefix: string
}

export interface RedisHost {
  readonly host: string
  readonly port: number
}

export interface GrpcService {
  readonly kind: 'grpc'
  /** `host:port` or `[::1]:port` */
  readonly address: string
  readonly isEncrypted: boolean
  readonly domain: string
  /**
   * Whose limits apply: `ours` sends our limits with each request; `service` uses the rules
   * configured in the service.
   */
  readonly rules: 'ours' | 'service'
}

/** Why the URL is invalid, as a message for the operator. */
export interface LimitServiceFault {
  readonly fault: string
}

type Parse = (url: UrlParts) => LimitServiceAddress | LimitServiceFault

/** Parsers by URL scheme. */
const schemes: Readonly<Record<string, Parse>> = {
  redis: (url) => parseRedis(url, 'single', false),
  rediss: (url) => parseRedis(url, 'single', true),
  'redis+cluster': (url) => parseRedis(url, 'cluster', false),
  'rediss+cluster': (url) => parseRedis(url, 'cluster', true),
  'redis+sentinel': (url) => parseRedis(url, 'sentinel', false),
  'rediss+sentinel': (url) => parseRedis(url, 'sentinel', true),
  grpc: (url) => parseGrpc(url, false),
  grpcs: (url) => parseGrpc(url, true),
}

interface UrlParts {
  readonly user: string | undefined
  readonly password: string | undefined
  readonly hosts: readonly { readonly host: string; readonly port: number | undefined }[]
  /** The segments between the slashes. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

/** A URL with several hosts is not valid for the URL class, so it is parsed here. */
const form =
  /^(?<scheme>[a-z+]+):\/\/(?:(?<login>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?$/i

export function parseLimitService(text: string): LimitServiceAddress | LimitServiceFault {
  const { scheme = '', login, hosts = '', path = '', query } = form.exec(text)?.groups ?? {}
  const parse = schemes[scheme.toLowerCase()]
  if (parse === undefined) {
    return { fault: 'must be a URL such as redis://host:port or grpc://host:port' }
  }
  const parsedHosts = hosts.split(',').map(parseHost)
  const found = parsedHosts.filter((host) => host !== undefined)
  if (found.length < parsedHosts.length) return { fault: 'has an invalid host or port' }
  const [user, ...rest] = login?.split(':') ?? []
  const [username, password] = [user, login?.includes(':') ? rest.join(':') : undefined].map(decode)
  const segments = path.split('/').filter((segment) => segment !== '')
  if ([username, password, ...segments.map(decode)].includes(malformed)) {
    return {
      fault: 'has a % that is not followed by two hexadecimal digits: write %25 for a percent sign',
    }
  }
  return parse({
    user: username || undefined,
    password: password || undefined,
    hosts: found,
    path: segments.map((segment) => decode(segment) ?? ''),
    query: new URLSearchParams(query),
  })
}

const malformed = '\0malformed'

function decode(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text)
  } catch {
    return malformed
  }
}

function parseHost(text: string): { host: string; port: number | undefined } | undefined {
  const { bracketed, plain, port } =
    /^(?:\[(?<bracketed>[\da-f:.]+)\]|(?<plain>[\w.-]+))(?::(?<port>\d{1,5}))?$/i.exec(text)
      ?.groups ?? {}
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65_535 || port === '0') return undefined
  return { host, port: port === undefined ? undefined : Number(port) }
}

const redisPorts = { single: 6_379, cluster: 6_379, sentinel: 26_379 } as const

function parseRedis(
  { user, password, hosts, path, query }: UrlParts,
  shape: RedisService['shape'],
  isEncrypted: boolean,
): RedisService | LimitServiceFault {
  if (shape === 'single' && hosts.length > 1) {
    return { fault: 'has several hosts: for a cluster use redis+cluster://' }
  }
  const names = [...path]
  const primaryName = shape === 'sentinel' ? (names.shift() ?? '') : ''
  if (shape === 'sentinel' && primaryName === '') {
    return { fault: 'must name the primary: redis+sentinel://host:26379/NAME' }
  }
  const [database = '0', ...others] = shape === 'cluster' ? ['0', ...names] : names
  if (others.length > 0 || !/^\d{1,5}$/.test(database)) {
    return { fault: pathForms[shape] }
  }
  const unknown = [...query.keys()].find((key) => key !== 'prefix')
  if (unknown !== undefined)
    return { fault: `has the unknown parameter ${unknown}; the only parameter is prefix` }
  return {
    kind: 'redis',
    shape,
    isEncrypted,
    hosts: hosts.map(({ host, port }) => ({ host, port: port ?? redisPorts[shape] })),
    username: user,
    password,
    database: Number(database),
    primaryName,
    prefix: query.get('prefix') ?? 'auth:limit:',
  }
}

const pathForms = {
  single: 'must end with the number of a database, as in redis://host:6379/0, or must have no path',
  cluster: 'must end with its hosts, because a cluster has no numbered databases',
  sentinel:
    'must end with the name of the primary and optionally a database: redis+sentinel://host:26379/NAME/0',
} as const

function parseGrpc(
  { user, hosts, path, query }: UrlParts,
  isEncrypted: boolean,
): GrpcService | LimitServiceFault {
  const [first, ...others] = hosts
  if (first === undefined || others.length > 0) return { fault: 'must have exactly one host' }
  if (first.port === undefined) return { fault: 'must have a port: grpc://host:port' }
  if (user !== undefined)
    return { fault: 'must not have a user: the service has no authentication' }
  if (path.length > 0) return { fault: 'must end with the port, or with ?domain= and ?rules=' }
  const unknown = [...query.keys()].find((key) => key !== 'domain' && key !== 'rules')
  if (unknown !== undefined) {
    return { fault: `has the unknown parameter ${unknown}; the parameters are domain and rules` }
  }
  const rules = query.get('rules') ?? 'ours'
  if (rules !== 'ours' && rules !== 'service')
    return { fault: 'has an invalid parameter rules: it must be ours or service' }
  const host = first.host.includes(':') ? `[${first.host}]` : first.host
  return {
    kind: 'grpc',
    address: `${host}:${first.port}`,
    isEncrypted,
    domain: query.get('domain') || 'auth',
    rules,
  }
}
