import { type Connection, Query, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg'

export type Done = (error: Error | undefined, result: unknown) => void

/** Members of the driver's connection that its types do not declare. */
export interface WireConnection extends Connection {
  readonly submittedNamedStatements: Record<string, string>
  parse(message: { readonly text: string }): void
  bind(message: object): void
  execute(message: object): void
}

/** The columns of a result, as the driver needs them to read rows. */
export interface Columns {
  readonly fields: readonly object[]
  readonly _parsers: readonly unknown[] | undefined
  readonly _prebuiltEmptyResultObject: object | null
}

/** Members of the driver's queries that its types do not declare. */
interface WireQuery {
  name: string | undefined
  /** Whether rows are kept. */
  _accumulateRows: boolean
  readonly _result: Columns
  prepare(connection: WireConnection): void
  handleRowDescription(message: object): void
  handleDataRow(message: object): void
  handleCommandComplete(message: object, connection: WireConnection): void
  handleError(error: Error, connection: WireConnection): void
}

/** A query of the driver, for classes that change which messages are sent. */
export const BaseQuery = Query as unknown as new (
  config: QueryConfig,
  done: Done,
) => Query & WireQuery

/** The part of a client that is needed to run a query. */
export interface QueryingClient {
  query(query: Query): unknown
}

/** Runs a query. @param create returns the query that calls `done` when it ends. */
export function runQuery<R extends QueryResultRow>(
  client: QueryingClient,
  create: (done: Done) => Query,
): Promise<QueryResult<R>> {
  return new Promise((resolve, reject) => {
    client.query(
      create((error, result) => {
        if (error) reject(error)
        else resolve(result as QueryResult<R>)
      }),
    )
  })
}
