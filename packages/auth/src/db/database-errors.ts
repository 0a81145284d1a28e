import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import { DatabaseError } from 'pg'

/** Why PostgreSQL failed for a reason other than the statement itself. */
export type Loss =
  /** PostgreSQL cannot be reached, is starting or stopping, or has just become a standby. */
  | 'away'
  /** The statement took too long. */
  | 'timeout'
  /** No connection is free in our pool or in PostgreSQL. */
  | 'busy'
  /** The disk is full: PostgreSQL still responds, but cannot write. */
  | 'full'
  /** PostgreSQL is out of memory or temporary space, or its operating system reports an error. */
  | 'failing'

/**
 * PostgreSQL is unavailable, too slow, or out of resources. The last statement may or may not have
 * been executed. A retry may succeed.
 */
export class DatabaseLostError extends Error {
  override readonly name = 'DatabaseLostError'
  /** The code of PostgreSQL or of the network; empty if there is none. */
  readonly code: string
  readonly loss: Loss

  constructor(cause: Error, loss: Loss) {
    const code = toCode(cause)
    super(`${explanations[loss]?.(code) ?? ''}${toReason(cause)}`, { cause })
    this.code = code
    this.loss = loss
  }

  get isTimeout(): boolean {
    return this.loss === 'timeout'
  }
}

/** Written before the message of PostgreSQL, which may be in any language. */
const explanations: Readonly<Partial<Record<Loss, (code: string) => string>>> = {
  busy: (code) => `No connection to PostgreSQL is free${inBrackets(code)}: `,
  full: (code) => `The disk of PostgreSQL is full${inBrackets(code)}: `,
  failing: (code) => `PostgreSQL cannot continue${inBrackets(code)}: `,
}

function inBrackets(code: string): string {
  return code === '' ? '' : ` (${code})`
}

/** Returns the error itself if it concerns the statement rather than the database. */
export function toDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseLostError) return error
  const loss = error instanceof DatabaseError ? toLoss(toCode(error)) : toLossOfDriver(error)
  return loss === undefined ? error : new DatabaseLostError(error, loss)
}

/**
 * Any error while a connection is opened, such as a wrong certificate or password, means that the
 * database is unavailable.
 */
export function toConnectionError(error: unknown): DatabaseLostError {
  const known = toDatabaseError(error)
  if (known instanceof DatabaseLostError) return known
  return new DatabaseLostError(error instanceof Error ? error : new Error(String(error)), 'away')
}

/** By SQLSTATE; the first match applies. */
const states: readonly (readonly [RegExp, Loss])[] = [
  // Cancelled by `statement_timeout`, `lock_timeout` or `transaction_timeout`.
  [/^(?:57014|55P03|25P04)$/, 'timeout'],
  [/^53100$/, 'full'],
  [/^53300$/, 'busy'],
  [/^(?:53|58)/, 'failing'],
  // Connection exceptions; shutting down or starting up; an idle transaction was ended; a standby.
  [/^(?:08|57P|25P03$|25006$)/, 'away'],
]

function toLoss(code: string): Loss | undefined {
  return states.find(([pattern]) => pattern.test(code))?.[1]
}

const networkCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  // The Unix socket of a server that is not running.
  'ENOENT',
  // None of several servers accepts writes at the moment.
  '25006',
])

/** Errors of the driver itself have no code. */
const messages: readonly (readonly [RegExp, Loss])[] = [
  [/^Query read timeout$/, 'timeout'],
  [/^timeout exceeded when trying to connect$/, 'busy'],
  [
    /^(?:Connection terminated|timeout ex|Client (?:has encountered|was closed)|Cannot use a pool)/,
    'away',
  ],
]

function toLossOfDriver(error: Error): Loss | undefined {
  if (networkCodes.has(toCode(error))) return 'away'
  return messages.find(([pattern]) => pattern.test(error.message))?.[1]
}

/**
 * Whether a connection can be used again after one of its statements failed. If PostgreSQL reported
 * the error, it is ready for the next statement. The exceptions are errors after which PostgreSQL
 * closes the connection, internal errors, and errors for which a new connection may reach a better
 * server.
 */
export function leavesConnectionUsable(error: unknown): boolean {
  const cause = error instanceof DatabaseLostError ? error.cause : error
  return cause instanceof DatabaseError && !unusable.test(cause.code ?? '')
}

const unusable = /^(?:08|57P|58|XX|F0|25P|25006)/

/** Whether a statement failed because the value already exists in that unique index. */
export function isTaken(
  error: unknown,
  index:
    | 'users_email'
    | 'users_phone'
    | 'users_pkey'
    | 'identities_provider_provider_id_key'
    | 'custom_providers_identifier_key'
    | 'mfa_factors_name'
    | 'mfa_factors_phone'
    | 'mfa_factors_recovery'
    | 'webauthn_credentials_credential_id'
    | 'message_gaps_pkey'
    | 'sso_providers_pkey'
    | 'sso_providers_entity_id'
    | 'sso_providers_resource_id'
    | 'sso_domains_pkey'
    | 'scim_users_name'
    | 'scim_groups_name',
): boolean {
  return error instanceof DatabaseError && error.code === '23505' && error.constraint === index
}
