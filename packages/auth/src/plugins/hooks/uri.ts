import { isIP } from 'node:net'
import { SettingError } from '../../errors.ts'
import { toReach } from '../../outgoing/address-check.ts'

/** Where a hook is. Plain data: the configuration travels to workers. */
export type HookTarget = HttpTarget | FunctionTarget

export interface HttpTarget {
  readonly kind: 'http'
  readonly url: string
  /** Whether it may be in the network of the house. */
  readonly isInsideAllowed: boolean
}

export interface FunctionTarget {
  readonly kind: 'function'
  readonly schema: string
  readonly functionName: string
}

export interface HookPlaces {
  /** AUTH_HOOK_ALLOWED_HOSTS */
  readonly insideHosts: readonly string[]
  /** The name of our database, where it is known. */
  readonly database: string | undefined
}

/** The machine itself: what is said there needs no encryption. */
const localHosts: ReadonlySet<string> = new Set([
  'localhost',
  '127.0.0.1',
  '::1',
  'host.docker.internal',
])

const forms = 'https://… or pg-functions://postgres/<schema>/<function>'

/** Reference 14. @throws {SettingError} */
export function parseHookUri(text: string, places: HookPlaces): HookTarget {
  const uri = text.trim()
  if (/^pg-functions:/i.test(uri)) return parseFunction(uri, places.database)
  const url = URL.parse(uri)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new SettingError(`must be ${forms}`)
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isLocal = localHosts.has(host)
  if (url.protocol === 'http:' && !isLocal) {
    throw new SettingError(`must be https://…: http is for ${[...localHosts].join(', ')} only`)
  }
  const isInsideAllowed = isLocal || places.insideHosts.some((name) => name.toLowerCase() === host)
  checkAddress(host, isInsideAllowed)
  return { kind: 'http', url: url.href, isInsideAllowed }
}

/** A host by its number is never looked up, so this is where it is judged. */
function checkAddress(host: string, isInsideAllowed: boolean): void {
  if (isIP(host) === 0) return
  const reach = toReach(host)
  if (reach === 'outside' || (reach === 'inside' && isInsideAllowed)) return
  const remedy = reach === 'inside' ? ': name it in AUTH_HOOK_ALLOWED_HOSTS to permit it' : ''
  throw new SettingError(`is at ${host}, which is not an address of the internet${remedy}`)
}

/** Names go into SQL between quotes, and have none in them. */
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
  // "postgres" is what the server before took, whatever the database was called.
  if (database !== 'postgres' && database !== ownDatabase) {
    throw new SettingError(
      `names the database ${database}, but functions are called in the server's own: ` +
        `write pg-functions://postgres/${schema}/${functionName}`,
    )
  }
  return { kind: 'function', schema, functionName }
}
