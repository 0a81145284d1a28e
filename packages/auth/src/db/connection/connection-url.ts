import { readFileSync } from 'node:fs'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'
import { toCountText } from '@portcullis/service-kit/text/format'
import { toReason } from '@portcullis/service-kit/text/reason'
import { SettingError } from '../../errors.ts'

/** A `postgres://` URL in the syntax of libpq, with several hosts and parameters. */
export interface ConnectionUrl {
  /** At least one, in the order in which they are tried. */
  readonly hosts: readonly DatabaseHost[]
  readonly user: string | undefined
  readonly password: string | undefined
  readonly database: string | undefined
  /** Command-line options for the server process: `-c search_path=app`. */
  readonly options: string
  readonly applicationName: string | undefined
  /** The timeout for each host; undefined if the URL has none. */
  readonly connectTimeoutMs: number | undefined
  readonly ssl: SslSettings
  readonly session: SessionAttributes
  /** Parameters that are not supported and have no effect. */
  readonly ignored: readonly string[]
}

export interface DatabaseHost {
  /** A name, an address, or the folder of a Unix socket. Undefined: PGHOST or localhost. */
  readonly host: string | undefined
  /** Undefined: PGPORT or 5432. */
  readonly port: number | undefined
}

const sessionAttributes = [
  'any',
  'read-write',
  'read-only',
  'primary',
  'standby',
  'prefer-standby',
] as const
/** Which of several servers may be used (`target_session_attrs` of libpq). */
type SessionAttributes = (typeof sessionAttributes)[number]

/** Variables that libpq reads if the URL lacks the parameter. */
const variables = {
  options: 'PGOPTIONS',
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  target_session_attrs: 'PGTARGETSESSIONATTRS',
  application_name: 'PGAPPNAME',
  connect_timeout: 'PGCONNECT_TIMEOUT',
} as const

const known: ReadonlySet<string> = new Set([
  ...Object.keys(variables),
  ...['host', 'port', 'user', 'password', 'dbname', 'sslpassword'],
  // Parameters of the JavaScript driver that many URLs contain.
  ...['ssl', 'uselibpqcompat'],
])

const form = 'must be postgres://user:password@host:port/name'
const escapes = 'in user and password write %40 for @, %2F for /, %3A for :, %3F for ?, %23 for #'

/** Adds parameters from the environment that the URL lacks. @throws {SettingError} */
export function withLibpqVariables(
  url: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const given = readParameters(splitUrl(url).query)
  const added = Object.entries(variables).flatMap(([name, variable]) => {
    const value = given.get(name) ? undefined : environment[variable]
    return value ? [`${name}=${encodeURIComponent(value)}`] : []
  })
  if (added.length === 0) return url
  return `${url}${url.includes('?') ? '&' : '?'}${added.join('&')}`
}

/** @throws {SettingError} with the reason if it is invalid. */
export function parseConnectionUrl(url: string): ConnectionUrl {
  const { authority, path, query } = splitUrl(url)
  const given = readParameters(query)
  const read = (name: string): string | undefined => given.get(name) || undefined
  const at = authority.lastIndexOf('@')
  const [user, ...password] = (at < 0 ? '' : authority.slice(0, at)).split(':')
  const hosts = toHosts(authority.slice(at + 1), given.get('host'), given.get('port'))
  return {
    hosts,
    user: given.get('user') || decode(user ?? '') || undefined,
    password: given.get('password') || decode(password.join(':')) || undefined,
    database: given.get('dbname') || decode(path) || undefined,
    options: read('options') ?? '',
    applicationName: read('application_name'),
    connectTimeoutMs: toTimeout(read('connect_timeout')),
    ssl: {
      mode: toSslMode(read('sslmode'), given.get('ssl'), read('sslrootcert')),
      rootCertificate: read('sslrootcert'),
      certificate: read('sslcert'),
      key: read('sslkey'),
      keyPassword: given.get('sslpassword') || undefined,
    },
    session: toSession(read('target_session_attrs'), hosts.length),
    ignored: [...given.keys()].filter((name) => !known.has(name)),
  }
}

function splitUrl(url: string) {
  const parts = /^postgres(?:ql)?:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/s.exec(url)
  if (parts === null) throw new SettingError(`${form}; ${escapes}`)
  const [, authority = '', path = '', query = ''] = parts
  return { authority, path, query }
}

function readParameters(query: string): ReadonlyMap<string, string> {
  const pairs = query.split('&').filter((pair) => pair !== '')
  return new Map(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return [decode(name), decode(value.join('='))]
    }),
  )
}

/** A % that does not start an escape stands for itself, as in the driver. */
function decode(text: string): string {
  const escaped = text.replace(/%(?![0-9a-f]{2})/gi, '%25')
  try {
    return decodeURIComponent(escaped)
  } catch {
    throw new SettingError(`has an escape that is not UTF-8; ${escapes}`)
  }
}

function toHosts(
  list: string,
  hostParameter: string | undefined,
  portParameter: string | undefined,
): readonly DatabaseHost[] {
  const written = list.split(',').map(toHost)
  const names = hostParameter ? hostParameter.split(',') : written.map(({ host }) => host ?? '')
  const ports = portParameter
    ? portParameter.split(',')
    : hostParameter
      ? []
      : written.map(({ port }) => port)
  if (ports.length > 1 && ports.length !== names.length) {
    throw new SettingError(
      `has ${toCountText(names.length, 'host')} and ${ports.length} ports; write one port for all hosts, or one for each`,
    )
  }
  return names.map((host, index) => ({
    host: host || undefined,
    port: toPort((ports.length === 1 ? ports[0] : ports[index]) ?? ''),
  }))
}

function toHost(text: string): { readonly host: string; readonly port: string } {
  const parts = /^(?:\[([0-9a-f:.%]+)\]|([^:[\]\s]*))(?::(\d*))?$/i.exec(text)
  if (parts === null) throw new SettingError(`${form}; ${escapes}`)
  const [, address, name = '', port = ''] = parts
  return { host: address ?? decode(name), port }
}

function toPort(text: string): number | undefined {
  if (text === '') return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port > 0 && port <= 65_535) return port
  throw new SettingError('has a port that is not a number from 1 to 65535')
}

function toTimeout(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,6}$/.test(text)) {
    throw new SettingError('connect_timeout must be a number of seconds')
  }
  return Number(text) * 1_000 || undefined
}

function toSslMode(
  text: string | undefined,
  ofDriver: string | undefined,
  rootCertificate: string | undefined,
): SslMode {
  // Names that the driver used before it supported those of libpq.
  if (text === 'no-verify') return 'require'
  if (text === undefined && ofDriver !== undefined) {
    return /^(?:true|1)$/.test(ofDriver) ? 'verify-full' : 'disable'
  }
  // As in libpq, the host name must be verified if all public certificate authorities are trusted.
  const mode = text ?? (rootCertificate === 'system' ? 'verify-full' : 'prefer')
  if (!isSslMode(mode)) {
    throw new SettingError(`sslmode must be one of ${sslModes.join(', ')}`)
  }
  if (rootCertificate === 'system' && mode !== 'verify-full') {
    throw new SettingError('sslrootcert=system needs sslmode=verify-full')
  }
  return mode
}

/** Every request may write, so with several servers the primary is used. */
function toSession(text: string | undefined, hostCount: number): SessionAttributes {
  if (text === undefined) return hostCount > 1 ? 'read-write' : 'any'
  const found = sessionAttributes.find((name) => name === text)
  if (found !== undefined) return found
  throw new SettingError(`target_session_attrs must be one of ${sessionAttributes.join(', ')}`)
}

/** The modes of libpq, from no encryption to full verification. */
const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const
type SslMode = (typeof sslModes)[number]

interface SslSettings {
  readonly mode: SslMode
  /** PEM files; `system` stands for the certificate authorities that Node.js trusts. */
  readonly rootCertificate: string | undefined
  readonly certificate: string | undefined
  readonly key: string | undefined
  readonly keyPassword: string | undefined
}

function isSslMode(text: string): text is SslMode {
  return sslModes.some((mode) => mode === text)
}

/** The connection attempts in order of preference; `true` uses TLS. */
export function toSslTries(mode: SslMode, host: string | undefined): readonly boolean[] {
  // The other end of a Unix socket is on the same machine, and PostgreSQL does not use TLS there.
  if (mode === 'disable' || host?.startsWith('/')) return [false]
  if (mode === 'allow') return [false, true]
  return mode === 'prefer' ? [true, false] : [true]
}

/**
 * The options for Node.js: how the server's certificate is verified, and the certificate of the
 * client.
 */
export function toTlsOptions(ssl: SslSettings, host: string | undefined): ConnectionOptions {
  const { rootCertificate, certificate, key, keyPassword } = ssl
  const authorities =
    rootCertificate === undefined || rootCertificate === 'system'
      ? {}
      : { ca: readFile('sslrootcert', rootCertificate) }
  return {
    ...authorities,
    ...(certificate !== undefined && { cert: readFile('sslcert', certificate) }),
    ...(key !== undefined && { key: readFile('sslkey', key) }),
    ...(keyPassword !== undefined && { passphrase: keyPassword }),
    ...toVerification(ssl, host ?? 'localhost'),
  }
}

function toVerification({ mode, rootCertificate }: SslSettings, host: string): ConnectionOptions {
  if (mode === 'verify-full') {
    return {
      rejectUnauthorized: true,
      checkServerIdentity: (_host, certificate) => checkServerIdentity(host, certificate),
    }
  }
  // As in libpq, the certificate is verified if sslrootcert is set.
  const isChecked = mode === 'verify-ca' || (mode === 'require' && rootCertificate !== undefined)
  return isChecked
    ? { rejectUnauthorized: true, checkServerIdentity: () => undefined }
    : { rejectUnauthorized: false }
}

function readFile(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const place = `${parameter} ${path} in the database URL`
    throw new Error(`${place} cannot be read: ${toReason(error)}`, { cause: error })
  }
}

/** Lists the files, so that they can be checked before the start. */
export function listSslFiles(ssl: SslSettings): readonly (readonly [string, string])[] {
  const files: readonly (readonly [string, string | undefined])[] = [
    ['sslrootcert', ssl.rootCertificate === 'system' ? undefined : ssl.rootCertificate],
    ['sslcert', ssl.certificate],
    ['sslkey', ssl.key],
  ]
  return files.filter((file): file is readonly [string, string] => file[1] !== undefined)
}
