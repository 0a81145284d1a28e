import type { QueryConfig, QueryResult, QueryResultRow } from 'pg'
import {
  BaseQuery,
  type Columns,
  type Done,
  type QueryingClient,
  runQuery,
  type WireConnection,
} from './wire-query.ts'

/** A connection with the columns of the statements that were prepared on it, by name. */
interface Described {
  /** The same connection, except that it does not request the columns (Describe). */
  readonly withoutDescribe: WireConnection
  readonly columns: Map<string, Columns>
}

const known = new WeakMap<WireConnection, Described>()

function toDescribed(connection: WireConnection): Described {
  let described = known.get(connection)
  if (described === undefined) {
    const withoutDescribe = Object.create(connection, { describe: { value: () => {} } })
    described = { withoutDescribe, columns: new Map() }
    known.set(connection, described)
  }
  return described
}

/**
 * A prepared statement whose columns are requested once for each connection. The driver requests
 * them with every execution, although they cannot change: if a migration changes a table,
 * PostgreSQL reports an error (see `isStalePlan`).
 */
class PreparedQuery extends BaseQuery {
  #described: Described | undefined

  override prepare(connection: WireConnection): void {
    this.#described = toDescribed(connection)
    const { columns, withoutDescribe } = this.#described
    const described = columns.get(this.name ?? '')
    if (described === undefined) {
      super.prepare(connection)
      return
    }
    Object.assign(this._result, described)
    this._accumulateRows = true
    super.prepare(withoutDescribe)
  }

  override handleRowDescription(message: object): void {
    super.handleRowDescription(message)
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result
    const columns = { fields, _parsers, _prebuiltEmptyResultObject }
    this.#described?.columns.set(this.name ?? '', columns)
  }
}

/**
 * @param client must not be behind a pooler, where the next server process may have prepared the
 * statement with other columns. @param config must have a name.
 */
export function runPrepared<R extends QueryResultRow>(
  client: QueryingClient,
  config: QueryConfig,
): Promise<QueryResult<R>> {
  return runQuery(client, (done: Done) => new PreparedQuery(config, done))
}
