import { toAddress } from '@portcullis/service-kit/text/address'
import type { Endpoint, TcpEndpoint } from '../network/socket.ts'

export interface Credentials {
  /** Omitted for the default user, as before Redis 6. */
  readonly user?: string
  readonly password: string
}

/** The parsed URL of a store. */
export type RedisAddress = SingleAddress | SentinelAddress | ClusterAddress

interface Login {
  readonly credentials?: Credentials | undefined
  readonly database?: number | undefined
  /** The URL starts with `rediss://`. */
  readonly usesTls?: boolean
}

export interface SingleAddress extends Login {
  readonly type: 'single'
  readonly endpoint: Endpoint
}

export interface SentinelAddress extends Login {
  readonly type: 'sentinel'
  readonly masterName: string
  readonly sentinels: readonly TcpEndpoint[]
}

export interface ClusterAddress extends Login {
  readonly type: 'cluster'
  readonly seeds: readonly TcpEndpoint[]
}

export interface RedisAddressText {
  /** `single`, `sentinel` or `cluster`, in any case. */
  readonly type: string
  /** `tcp` or `unix`; a `redis://` URL, sentinels and clusters always use TCP. */
  readonly socketType: string
  readonly url: string
}

const redisPort = 6379
const sentinelPort = 26_379

const parsers: Readonly<Record<string, (text: RedisAddressText) => RedisAddress>> = {
  single: parseSingle,
  sentinel: parseSentinel,
  cluster: parseCluster,
}

/** @throws Error with a message for the operator */
export function parseRedisAddress(text: RedisAddressText): RedisAddress {
  const type = text.type.toLowerCase()
  const parse = Object.hasOwn(parsers, type) ? parsers[type] : undefined
  if (!parse) throw new Error(`Unrecognized redis type ${text.type}`)
  return parse(text)
}

/** Parses `password` or `user:password`, split at the first colon. Returns undefined for an empty string. */
export function parseRedisAuth(auth: string | undefined): Credentials | undefined {
  if (auth === undefined || auth === '') return undefined
  const colon = auth.indexOf(':')
  if (colon < 0) return { password: auth }
  const [user, password] = [auth.slice(0, colon), auth.slice(colon + 1)]
  return user === '' ? { password } : { user, password }
}

/** The name of a server in log lines. */
export function toEndpointText(endpoint: Endpoint): string {
  return 'path' in endpoint ? endpoint.path : toAddress(endpoint.host, endpoint.port)
}

/** The name of the whole store in log lines, without credentials. */
export function toAddressText(address: RedisAddress): string {
  const text = toNames(address).join(',')
  return address.credentials ? `redis://*****@${text}` : text
}

function toNames(address: RedisAddress): string[] {
  if (address.type === 'single') return [toEndpointText(address.endpoint)]
  if (address.type === 'cluster') return address.seeds.map(toEndpointText)
  return [address.masterName, ...address.sentinels.map(toEndpointText)]
}

function parseSingle({ socketType, url }: RedisAddressText): SingleAddress {
  if (isUrl(url)) return { type: 'single', ...parseUrl(url, redisPort) }
  const kind = socketType.toLowerCase()
  if (kind === 'unix') {
    if (url === '') throw new Error('The path of the unix socket of Redis is empty')
    return { type: 'single', endpoint: { path: url } }
  }
  if (kind !== 'tcp') throw new Error(`Unrecognized socket type ${socketType}: use tcp or unix`)
  if (url.startsWith('/')) {
    throw new Error(`${url} is a path: set the socket type to unix, or use host:port`)
  }
  return { type: 'single', endpoint: parseHostPort(url, redisPort) }
}

function parseSentinel({ url }: RedisAddressText): SentinelAddress {
  const [masterName = '', ...items] = url.split(',').map((item) => item.trim())
  if (items.length === 0 || masterName === '') {
    throw new Error(
      'Expected master name and a list of urls for the sentinels, in the format: ' +
        '<redis master name>,<sentinel1>,...,<sentineln>',
    )
  }
  const { endpoints, login } = parseList(items, sentinelPort)
  return { type: 'sentinel', masterName, sentinels: endpoints, ...login }
}

function parseCluster({ url }: RedisAddressText): ClusterAddress {
  const { endpoints, login } = parseList(
    url.split(',').map((item) => item.trim()),
    redisPort,
  )
  return { type: 'cluster', seeds: endpoints, ...login }
}

function parseList(
  items: readonly string[],
  defaultPort: number,
): { endpoints: TcpEndpoint[]; login: Login } {
  const parsed = items.map((item) =>
    isUrl(item)
      ? parseUrl(item, defaultPort)
      : { endpoint: parseHostPort(item, defaultPort), credentials: undefined },
  )
  const login: Login = parsed.find(({ credentials }) => credentials) ?? parsed[0] ?? {}
  const { credentials, database, usesTls = false } = login
  return {
    endpoints: parsed.map(({ endpoint }) => endpoint),
    login: { credentials, database, usesTls },
  }
}

function isUrl(text: string): boolean {
  return /^rediss?:\/\//i.test(text)
}

function parseUrl(text: string, defaultPort: number): Login & { endpoint: TcpEndpoint } {
  const url = URL.parse(text)
  if (!url) throw new Error(`${maskUrl(text)} is not a URL: use redis://[user:password@]host:port`)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  if (host === '') throw new Error(`${maskUrl(text)} names no host`)
  const query = url.searchParams
  const user = query.get('username') ?? decodeURIComponent(url.username)
  const password = query.get('password') ?? decodeURIComponent(url.password)
  const credentials = user === '' ? { password } : { user, password }
  return {
    endpoint: { host, port: url.port === '' ? defaultPort : Number(url.port) },
    credentials: password === '' && user === '' ? undefined : credentials,
    database: parseDatabase(query.get('db') ?? url.pathname.replace(/^\//, '')),
    usesTls: /^rediss:/i.test(text),
  }
}

function parseDatabase(text: string): number | undefined {
  if (text === '') return undefined
  if (!/^\d{1,9}$/.test(text))
    throw new Error(`The database ${text} of the Redis URL is not a number`)
  return Number(text)
}

function parseHostPort(text: string, defaultPort: number): TcpEndpoint {
  const found = /^(?:\[(?<literal>[^\]]+)\]|(?<name>[^:[\]/@\s]+))(?::(?<port>\d+))?$/.exec(text)
  const host = found?.groups?.['literal'] ?? found?.groups?.['name']
  const port = Number(found?.groups?.['port'] ?? defaultPort)
  if (host === undefined || port < 1 || port > 65_535) {
    throw new Error(`${maskUrl(text)} is not the address of a Redis server: use host:port`)
  }
  return { host, port }
}

/** Credentials are the part before the last `@`. */
function maskUrl(text: string): string {
  const at = text.lastIndexOf('@')
  if (at < 0) return text === '' ? 'An empty string' : text
  return `redis://*****@${text.slice(at + 1)}`
}
