import { DatabaseError } from 'pg'

/** Why PostgreSQL did not do what it was asked to, where the statement is not to blame. */
export type Loss =
  /** It cannot be reached, starts, stops, or is a standby that was the primary a moment ago. */
  | 'away'
  /** It took too long. */
  | 'timeout'
  /** No connection is free, in our pool or in PostgreSQL. */
  | 'busy'
  /** Its disk is full: it still answers, but stores nothing. */
  | 'full'
  /** It has no memory or temporary space left, or its system fails. */
  | 'failing'

/**
 * PostgreSQL is away, too slow, or cannot go on. What it was told to do last may be done or not; nothing
 * else is wrong, and the same again may well succeed.
 */
export class DatabaseLostError extends Error {
  override readonly name = 'DatabaseLostError'
  /** Of PostgreSQL or of the network; empty where neither gave one. */
  readonly code: string
  readonly loss: Loss

  constructor(cause: Error, loss: Loss) {
    const code = toCode(cause)
    super(`${explanations[loss]?.(code) ?? ''}${toText(cause)}`, { cause })
    this.code = code
    this.loss = loss
  }

  get isTimeout(): boolean {
    return this.loss === 'timeout'
  }
}

/** What the log says before the words of PostgreSQL, which may be in any language. */
const explanations: Readonly<Partial<Record<Loss, (code: string) => string>>> = {
  busy: (code) => `No connection to PostgreSQL is free${inBrackets(code)}: `,
  full: (code) => `The disk of PostgreSQL is full${inBrackets(code)}: `,
  failing: (code) => `PostgreSQL cannot go on${inBrackets(code)}: `,
}

function inBrackets(code: string): string {
  return code === '' ? '' : ` (${code})`
}

/** The error itself where it is about the statement and not about the database. */
export function toDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseLostError) return error
  const loss = error instanceof DatabaseError ? toLoss(toCode(error)) : toLossOfDriver(error)
  return loss === undefined ? error : new DatabaseLostError(error, loss)
}

/** For what keeps a connection from being opened: a certificate or a password, say, is no other matter. */
export function toConnectionError(error: unknown): DatabaseLostError {
  const known = toDatabaseError(error)
  if (known instanceof DatabaseLostError) return known
  return new DatabaseLostError(error instanceof Error ? error : new Error(String(error)), 'away')
}

/** By SQLSTATE; the first that matches counts. */
const states: readonly (readonly [RegExp, Loss])[] = [
  // Canceled by `statement_timeout`, by `lock_timeout`, by `transaction_timeout`.
  [/^(?:57014|55P03|25P04)$/, 'timeout'],
  [/^53100$/, 'full'],
  [/^53300$/, 'busy'],
  [/^(?:53|58)/, 'failing'],
  // Connection exceptions; shutting down or starting up; an idle transaction ended; a standby.
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
  // The socket of a server that does not run.
  'ENOENT',
  // Of several servers, none takes writes at the moment.
  '25006',
])

/** What the driver says by itself has no code. */
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
 * Whether a connection can be used again after a statement of it has failed: PostgreSQL has said why, so
 * it waits for the next one. Not where it is about to end the connection, where something in it is
 * broken, or where another connection may lead to a better server.
 */
export function leavesConnectionUsable(error: unknown): boolean {
  const cause = error instanceof DatabaseLostError ? error.cause : error
  return cause instanceof DatabaseError && !unusable.test(cause.code ?? '')
}

const unusable = /^(?:08|57P|58|XX|F0|25P|25006)/

function toCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** Every address of a host that refused makes one error of several, whose own text is empty. */
function toText(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message
  return error.errors.map((one) => (one instanceof Error ? one.message : `${one}`)).join('; ')
}

/** Whether a statement failed because a value of that unique index is there already. */
export function isTaken(
  error: unknown,
  index:
    | 'users_email'
    | 'users_phone'
    | 'users_pkey'
    | 'identities_provider_provider_id_key'
    | 'mfa_factors_name'
    | 'mfa_factors_phone'
    | 'mfa_factors_recovery'
    | 'webauthn_credentials_credential_id'
    | 'message_gaps_pkey',
): boolean {
  return error instanceof DatabaseError && error.code === '23505' && error.constraint === index
}
