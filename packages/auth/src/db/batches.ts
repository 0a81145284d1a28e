import type { AuditNotice } from './audit-notices.ts'
import { DatabaseLostError, toDatabaseError } from './database-errors.ts'
import type { Row, Statement } from './statement.ts'

/** What a statement returned and wrote. */
export interface Executed {
  readonly rows: readonly Row[]
  readonly audited: readonly AuditNotice[]
}

/** @param values of one request, or of each request of a batch. */
type Execute = (statement: Statement, values: object | readonly object[]) => Promise<Executed>

interface Waiting {
  readonly values: object
  readonly resolve: (executed: Executed | Promise<Executed>) => void
  readonly reject: (error: unknown) => void
}

/**
 * A longer batch would keep one process of PostgreSQL busy while others are idle. It would save hardly
 * more: with 16 requests, each of them already costs only a sixteenth of a round trip.
 */
const longestBatch = 16

/**
 * Answers requests that arrive together with one execution of their statement, because a round trip
 * to PostgreSQL costs more than what these statements do. No request waits for others to arrive: a
 * batch consists of the requests whose data the event loop has read in the same turn.
 */
export class Batches {
  readonly #execute: Execute
  readonly #waiting = new Map<Statement, Waiting[]>()

  constructor(execute: Execute) {
    this.#execute = execute
  }

  /** @param shared handles several requests at once: the statement itself, or its `shared` one. */
  run(statement: Statement, shared: Statement, values: object): Promise<Executed> {
    return new Promise((resolve, reject) => {
      const one: Waiting = { values, resolve, reject }
      const waiting = this.#waiting.get(statement)
      if (waiting !== undefined && waiting.length < longestBatch) {
        waiting.push(one)
        return
      }
      const batch = [one]
      this.#waiting.set(statement, batch)
      // Runs after the event loop has read all sockets that are ready.
      setImmediate(() => void this.#send(statement, shared, batch))
    })
  }

  async #send(statement: Statement, shared: Statement, batch: readonly Waiting[]): Promise<void> {
    if (this.#waiting.get(statement) === batch) this.#waiting.delete(statement)
    const runAlone = ({ values, resolve }: Waiting) => resolve(this.#execute(statement, values))
    if (batch.length === 1) {
      batch.forEach(runAlone)
      return
    }
    try {
      const values = batch.map((one) => one.values)
      const executed = split(await this.#execute(shared, values), values)
      for (const [index, one] of batch.entries()) {
        const own = executed[index] ?? nothing
        if (own.rows[0]?.['is_busy'] === true) runAlone(one)
        else one.resolve(own)
      }
    } catch (error) {
      // PostgreSQL has undone everything, so the request that caused the error can fail alone.
      if (shared !== statement && !(toDatabaseError(error) instanceof DatabaseLostError)) {
        batch.forEach(runAlone)
      } else {
        for (const { reject } of batch) reject(error)
      }
    }
  }
}

const nothing: Executed = { rows: [], audited: [] }

/** Splits the rows of a batch by their position, and its audit entries by their ID. */
function split(executed: Executed, values: readonly object[]): readonly Executed[] {
  const rows: Row[][] = values.map(() => [])
  for (const row of executed.rows) rows[Number(row['position']) - 1]?.push(row)
  const audited = Map.groupBy(executed.audited, ({ id }) => id)
  return values.map((one, index) => ({
    rows: rows[index] ?? [],
    audited: audited.get(Reflect.get(one, 'auditId')) ?? [],
  }))
}
