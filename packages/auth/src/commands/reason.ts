type Explain = (message: string) => string

const missing: Explain = (message) =>
  `The tables are not there (${message}): run auth migrate first.`
const unreachable: Explain = (message) =>
  `PostgreSQL cannot be reached (${message}): check AUTH_DB_DATABASE_URL, and whether it runs.`
const refused: Explain = (message) =>
  `PostgreSQL does not let us in (${message}): check user, password and name in AUTH_DB_DATABASE_URL.`

const forbidden: Explain = (message) =>
  `PostgreSQL does not let this role do that (${message}): auth migrate needs the role that owns the ` +
  'tables, and auth migrate --print-grants ROLE prints what a role needs to serve.'
const untrusted: Explain = (message) =>
  `The certificate of PostgreSQL is not accepted (${message}): check sslmode and sslrootcert in AUTH_DB_DATABASE_URL.`
const usedUp: Explain = (message) =>
  `PostgreSQL has no connection left (${message}): raise max_connections, or lower AUTH_DB_MAX_POOL_SIZE or AUTH_DB_CONN_PERCENTAGE of the servers that use it.`
const readOnly: Explain = (message) =>
  `PostgreSQL takes no writes (${message}): name the primary in AUTH_DB_DATABASE_URL, or all hosts.`

const occupied: Explain = (message) =>
  `The port is in use (${message}): stop who has it, or set AUTH_API_PORT to another one.${toClash(message)}`
/** The specifications of both servers name this port. */
function toClash(message: string): string {
  return /:8081\b/.test(message)
    ? ' The gRPC port of the rate limit service is 8081 by default, too: GRPC_PORT moves that one.'
    : ''
}

const reserved: Explain = (message) =>
  `The system does not let us listen there (${message}): check AUTH_API_HOST and AUTH_API_PORT.`
const unknownHost: Explain = (message) =>
  `There is no such address to listen on (${message}): check AUTH_API_HOST.`

/** What to do, by the code that PostgreSQL or the network gives. */
const explanations: Readonly<Record<string, Explain>> = {
  '42P01': missing,
  '3F000': missing,
  '28P01': refused,
  '28000': refused,
  '3D000': refused,
  '42501': forbidden,
  '53300': usedUp,
  '25006': readOnly,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
  CERT_HAS_EXPIRED: untrusted,
  ECONNREFUSED: unreachable,
  ENOTFOUND: unreachable,
  EAI_AGAIN: unreachable,
  EHOSTUNREACH: unreachable,
  ETIMEDOUT: unreachable,
  'listen EADDRINUSE': occupied,
  'listen EACCES': reserved,
  'listen EADDRNOTAVAIL': reserved,
  'listen ENOTFOUND': unknownHost,
  'listen EAI_AGAIN': unknownHost,
}

/**
 * What a person is told about a failure of a command.
 * @param listenHost where it listens: a name that nobody knows may be this one.
 */
export function toReason(error: unknown, listenHost?: string): string {
  if (!(error instanceof Error)) return String(error)
  // Every address of a host that refused makes one error of several, whose own text is empty.
  const several = error instanceof AggregateError ? error.errors.map(toText).join('; ') : ''
  const message = error.message || several
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const isHostOfOurs = 'hostname' in error && error.hostname === listenHost
  const isListening = isHostOfOurs || ('syscall' in error && error.syscall === 'listen')
  const name = isListening ? `listen ${code}` : code
  return Object.hasOwn(explanations, name) ? (explanations[name]?.(message) ?? message) : message
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
