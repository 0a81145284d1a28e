import { DatabaseError } from 'pg'

/**
 * PostgreSQL is away, or too slow. What it was told to do last may be done or not; nothing else is
 * wrong, and the same again may well succeed.
 */
export class DatabaseLostError extends Error {
  override readonly name = 'DatabaseLostError'
  /** Of PostgreSQL or of the network; empty where neither gave one. */
  readonly code: string
  readonly isTimeout: boolean

  constructor(cause: Error, isTimeout: boolean) {
    super(toText(cause), { cause })
    this.code = toCode(cause)
    this.isTimeout = isTimeout
  }
}

/** The error itself where it is about the statement and not about the database. */
export function toDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof DatabaseLostError) return error
  const code = toCode(error)
  if (timeouts.has(code) || error.message === 'Query read timeout') {
    return new DatabaseLostError(error, true)
  }
  const isAway = error instanceof DatabaseError ? awayStates.test(code) : isNetworkError(error)
  return isAway ? new DatabaseLostError(error, false) : error
}

/** Canceled by `statement_timeout`, or by `lock_timeout`. */
const timeouts: ReadonlySet<string> = new Set(['57014', '55P03'])

/**
 * Connection exceptions, no more room (connections, memory, disk), shutting down or starting up, an
 * idle transaction ended, and a standby that was the primary a moment ago.
 */
const awayStates = /^(?:08|53|57P|25P03|25006)/

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
])

/** What the driver says by itself has no code. */
const ofTheDriver =
  /^(?:Connection terminated|timeout ex|Client (?:has encountered|was closed)|Cannot use a pool)/

function isNetworkError(error: Error): boolean {
  return networkCodes.has(toCode(error)) || ofTheDriver.test(error.message)
}

function toCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

/** Every address of a host that refused makes one error of several, whose own text is empty. */
function toText(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message
  return error.errors.map((one) => (one instanceof Error ? one.message : `${one}`)).join('; ')
}
