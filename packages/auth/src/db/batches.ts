import type { Row, Statement } from './statement.ts'

type Execute = (statement: Statement, values: readonly object[]) => Promise<readonly Row[]>

interface Waiting {
  readonly values: object
  readonly resolve: (rows: readonly Row[]) => void
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

  run(statement: Statement, values: object): Promise<readonly Row[]> {
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
      setImmediate(() => void this.#send(statement, batch))
    })
  }

  async #send(statement: Statement, batch: readonly Waiting[]): Promise<void> {
    if (this.#waiting.get(statement) === batch) this.#waiting.delete(statement)
    try {
      const values = batch.map((one) => one.values)
      const rows = splitRows(await this.#execute(statement, values), batch.length)
      batch.forEach(({ resolve }, index) => resolve(rows[index] ?? []))
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
}

/** Splits the rows of a batch by their request. */
function splitRows(rows: readonly Row[], count: number): readonly (readonly Row[])[] {
  const split: Row[][] = Array.from({ length: count }, () => [])
  for (const row of rows) split[Number(row['position']) - 1]?.push(row)
  return split
}
