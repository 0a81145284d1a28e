import { type Connection, Query, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg'

type Done = (error: Error | undefined, result: unknown) => void

/** Members of the driver's connection and queries that its types do not declare. */
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

/** @param client a client of the pool, typed by the part that is needed. */
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
