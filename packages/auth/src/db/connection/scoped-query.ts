import { type Connection, Query, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg'

type Done = (error: Error | undefined, result: unknown) => void

/** What the driver does not declare of its connection and its queries. */
interface WireConnection extends Connection {
  readonly submittedNamedStatements: Record<string, string>
  parse(message: { readonly text: string }): void
  bind(message: object): void
  execute(message: object): void
}

interface WireQuery {
  name: string | undefined
  prepare(connection: WireConnection): void
  handleDataRow(message: object): void
  handleCommandComplete(message: object, connection: WireConnection): void
  handleError(error: Error, connection: WireConnection): void
}

const BaseQuery = Query as unknown as new (config: QueryConfig, done: Done) => Query & WireQuery

/**
 * A statement with one before it that sets up its transaction. PostgreSQL gets both at once and runs
 * them as one transaction, because they end by one Sync: no further round trip, and the settings are
 * gone when it is over.
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
    // The driver notes the name when a Parse succeeds, and the first is not the one of the statement.
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

/** @param client of the pool; typed as what is needed of it. */
export function runScoped<R extends QueryResultRow>(
  client: { query(query: Query): unknown },
  setUp: string,
  config: QueryConfig,
): Promise<QueryResult<R>> {
  return new Promise((resolve, reject) => {
    client.query(
      new ScopedQuery(setUp, config, (error, result) => {
        if (error) reject(error)
        else resolve(result as QueryResult<R>)
      }),
    )
  })
}
