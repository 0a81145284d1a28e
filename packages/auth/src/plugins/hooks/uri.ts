import { isIP } from 'node:net'
import { SettingError } from '../../errors.ts'
import { classifyAddress } from '../../outgoing/address-check.ts'

/** Where to call a hook. Plain data, because the configuration is sent to workers. */
export type HookTarget = HttpTarget | FunctionTarget

export interface HttpTarget {
  readonly kind: 'http'
  readonly url: string
  /** Whether the host may resolve to an address on the internal network. */
  readonly isInternalAllowed: boolean
}

export interface FunctionTarget {
  readonly kind: 'function'
  readonly schema: string
  readonly functionName: string
}

/** Which targets the URI of a hook may name. */
export interface HookTargetRules {
  /** AUTH_HOOK_ALLOWED_HOSTS */
  readonly internalHosts: readonly string[]
  /** The name of the server's database; undefined when it is unknown. */
  readonly database: string | undefined
}

/** Names of this machine, for which http without TLS is acceptable. */
const localHosts: ReadonlySet<string> = new Set([
  'localhost',
  '127.0.0.1',
  '::1',
  'host.docker.internal',
])

const forms = 'https://… or pg-functions://postgres/<schema>/<function>'

/** Parses the URI of a hook. @throws {SettingError} */
export function parseHookUri(text: string, rules: HookTargetRules): HookTarget {
  const uri = text.trim()
  if (/^pg-functions:/i.test(uri)) return parseFunction(uri, rules.database)
  const url = URL.parse(uri)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new SettingError(`must be ${forms}`)
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isLocal = localHosts.has(host)
  if (url.protocol === 'http:' && !isLocal) {
    throw new SettingError(
      `must start with https://. http:// is allowed only for ${[...localHosts].join(', ')}`,
    )
  }
  const isInternalAllowed =
    isLocal || rules.internalHosts.some((name) => name.toLowerCase() === host)
  checkAddress(host, isInternalAllowed)
  return { kind: 'http', url: url.href, isInternalAllowed }
}

/** An IP address is never resolved through DNS, so it is checked here. */
function checkAddress(host: string, isInternalAllowed: boolean): void {
  if (isIP(host) === 0) return
  const addressClass = classifyAddress(host)
  if (addressClass === 'public' || (addressClass === 'internal' && isInternalAllowed)) return
  const remedy =
    addressClass === 'internal' ? '. To allow it, add it to AUTH_HOOK_ALLOWED_HOSTS' : ''
  throw new SettingError(`points to ${host}, which is not a public address${remedy}`)
}

/** The names are inserted into SQL between double quotes, so they must not contain any. */
const identifier = /^[a-z_][\w$]{0,62}$/i

function parseFunction(uri: string, ownDatabase: string | undefined): FunctionTarget {
  const [database, schema, functionName, ...more] = uri
    .replace(/^pg-functions:\/\//i, '')
    .replace(/\/$/, '')
    .split('/')
  if (database === undefined || schema === undefined || functionName === undefined) {
    throw new SettingError(`must be ${forms}`)
  }
  const isNamed = identifier.test(schema) && identifier.test(functionName)
  if (!isNamed || more.length > 0) {
    throw new SettingError(
      'must name a schema and a function, each of letters, digits, _ and $: ' +
        'pg-functions://postgres/<schema>/<function>',
    )
  }
  // Like Supabase Auth, "postgres" is accepted whatever the name of the database is.
  if (database !== 'postgres' && database !== ownDatabase) {
    throw new SettingError(
      `names the database ${database}, but functions run in the server's own database. ` +
        `Use pg-functions://postgres/${schema}/${functionName}`,
    )
  }
  return { kind: 'function', schema, functionName }
}
