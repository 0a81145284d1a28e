import { createHash } from 'node:crypto'
import { DatabaseError } from 'pg'

/** AUTH_DB_PREPARED_STATEMENTS. */
export type PreparedStatements = 'auto' | 'on' | 'off'

/**
 * PostgreSQL keeps a prepared statement in the server process that received it. Behind a pooler in
 * transaction mode, another process may run the next transaction. There the statement is missing
 * (26000), or another client has prepared one with the same name (42P05).
 */
const lostCodes: ReadonlySet<string> = new Set(['26000', '42P05'])

/** Whether the statement would succeed if it were sent without a name. */
export function isLostPreparation(error: unknown): error is DatabaseError {
  if (!(error instanceof DatabaseError)) return false
  // PgBouncer with support for prepared statements reports its own error and closes the connection.
  const isOfPooler = error.code === '08P01' && /prepared statement/i.test(error.message)
  return lostCodes.has(error.code ?? '') || isOfPooler
}

/** A migration of a newer version changed a table after the statement was prepared. */
export function isStalePlan(error: unknown): error is DatabaseError {
  return (
    error instanceof DatabaseError &&
    error.code === '0A000' &&
    // The message may be in any language.
    error.routine === 'RevalidateCachedQuery'
  )
}

/** Decides which statements are named, until named statements turn out not to work. */
export class StatementNames {
  readonly #mode: PreparedStatements
  readonly #onLost: (error: DatabaseError) => void
  #isLost = false

  constructor(mode: PreparedStatements, onLost: (error: DatabaseError) => void) {
    this.#mode = mode
    this.#onLost = onLost
  }

  /**
   * @param isOwn whether the connection leads to a server process that serves only this connection.
   */
  isUsed(isOwn: boolean): boolean {
    if (this.#isLost || this.#mode === 'off') return false
    return isOwn || this.#mode === 'on'
  }

  giveUp(error: DatabaseError): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#onLost(error)
  }
}

/**
 * Behind a pooler, servers of other versions and schemas prepare statements with the same name in
 * the same server process. The name therefore includes a hash of the text, so that no server runs
 * the statement of another.
 */
export function toUniqueName(name: string, text: string): string {
  const digest = createHash('sha256').update(text).digest('hex')
  return `${name.slice(0, 46)}_${digest.slice(0, 16)}`
}
