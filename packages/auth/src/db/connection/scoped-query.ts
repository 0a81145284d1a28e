import type { QueryConfig, QueryResult, QueryResultRow } from 'pg'
import {
  BaseQuery,
  type Done,
  type QueryingClient,
  runQuery,
  type WireConnection,
} from './wire-query.ts'

/**
 * A statement preceded by one that sets up its transaction. Both are sent together and end with one
 * Sync, so PostgreSQL runs them in one transaction. This needs no further round trip, and the
 * settings end with the transaction.
 */
class ScopedQuery extends BaseQuery {
  readonly #setUp: string
  readonly #statementName: string | undefined
  #isSetUp = false

  constructor(setUp: string, config: QueryConfig, done: Done) {
    super({ ...config, queryMode: 'extended' } as QueryConfig, done)
    this.#setUp = setUp
    this.#statementName = this.name
  }

  override prepare(connection: WireConnection): void {
    connection.parse({ text: this.#setUp })
    connection.bind({})
    connection.execute({})
    super.prepare(connection)
    // The driver records the name when a Parse succeeds, and the first Parse is that of the setup.
    this.name = undefined
  }

  override handleDataRow(message: object): void {
    if (this.#isSetUp) super.handleDataRow(message)
  }

  override handleCommandComplete(message: object, connection: WireConnection): void {
    if (this.#isSetUp) {
      super.handleCommandComplete(message, connection)
      return
    }
    this.#isSetUp = true
    this.name = this.#statementName
  }

  override handleError(error: Error, connection: WireConnection): void {
    if (this.#statementName !== undefined) {
      delete connection.submittedNamedStatements[this.#statementName]
    }
    super.handleError(error, connection)
  }
}

export function runScoped<R extends QueryResultRow>(
  client: QueryingClient,
  setUp: string,
  config: QueryConfig,
): Promise<QueryResult<R>> {
  return runQuery(client, (done: Done) => new ScopedQuery(setUp, config, done))
}
