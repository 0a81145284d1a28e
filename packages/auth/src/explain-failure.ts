import { toCode, toMessage } from '@portcullis/service-kit/text/reason'

type Explain = (message: string) => string

const missing: Explain = (message) =>
  `The tables do not exist (${message}): run auth migrate first.`
const unreachable: Explain = (message) =>
  `PostgreSQL cannot be reached (${message}): check AUTH_DB_DATABASE_URL and that PostgreSQL is running.`
const refused: Explain = (message) =>
  `PostgreSQL refused the connection (${message}): check the user, password and database name in AUTH_DB_DATABASE_URL.`

const forbidden: Explain = (message) =>
  `The database role lacks a privilege (${message}): auth migrate needs the role that owns the ` +
  'tables, and auth migrate --print-grants ROLE prints the privileges that a role needs to serve.'
const untrusted: Explain = (message) =>
  `The certificate of PostgreSQL is not accepted (${message}): check sslmode and sslrootcert in AUTH_DB_DATABASE_URL.`
const usedUp: Explain = (message) =>
  `PostgreSQL has no connection left (${message}): raise max_connections, or lower AUTH_DB_MAX_POOL_SIZE or AUTH_DB_CONN_PERCENTAGE of the servers that use it.`
const readOnly: Explain = (message) =>
  `PostgreSQL is read-only (${message}): name the primary, or all hosts, in AUTH_DB_DATABASE_URL.`

const occupied: Explain = (message) =>
  `The port is in use (${message}): stop the process that uses it, or set AUTH_API_PORT to another port.${toPortHint(message)}`
/** The auth server and the rate limit service both use 8081 by default. */
function toPortHint(message: string): string {
  return /:8081\b/.test(message)
    ? ' The default gRPC port of the rate limit service is also 8081; GRPC_PORT changes it.'
    : ''
}

const reserved: Explain = (message) =>
  `Listening on this address is not permitted or not possible (${message}): check AUTH_API_HOST and AUTH_API_PORT.`
const unknownHost: Explain = (message) =>
  `The listen address cannot be resolved (${message}): check AUTH_API_HOST.`

/** Messages with advice by the error code of PostgreSQL or the operating system. */
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
 * Explains the failure of a command to the operator.
 * @param listenHost the listen address, which may be the host name that could not be resolved.
 */
export function explainFailure(error: unknown, listenHost?: string): string {
  const message = toMessage(error)
  const { hostname, syscall }: { hostname?: unknown; syscall?: unknown } = Object(error)
  const isListening = syscall === 'listen' || (hostname !== undefined && hostname === listenHost)
  const name = isListening ? `listen ${toCode(error)}` : toCode(error)
  return Object.hasOwn(explanations, name) ? (explanations[name]?.(message) ?? message) : message
}
