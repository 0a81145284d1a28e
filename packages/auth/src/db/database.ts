import type { Log } from '@portcullis/service-kit/log'
import { Pool, type PoolClient, types } from 'pg'
import { type Statement, withSchema } from './statement.ts'

export interface DatabaseSettings {
  /** `postgres://…` */
  readonly url: string
  readonly schema: string
  /** Undefined: no limit of ours. */
  readonly maxPoolSize: number | undefined
  readonly idleTimeoutMs: number
  readonly log: Pick<Log, 'warning'>
  /** Hears of every statement, by its name: tests count them. */
  readonly onStatement?: (name: string) => void
}

export type Row = Readonly<Record<string, unknown>>
export type Values = readonly unknown[]

/** What runs statements: the pool, or one connection inside a transaction. */
export interface Queries {
  run<R extends Row = Row>(statement: Statement, values?: Values): Promise<readonly R[]>
}

export interface Database extends Queries, AsyncDisposable {
  /** Everything or nothing. Most writes are one statement and need none of this. */
  transaction<Result>(use: (queries: Queries) => Promise<Result>): Promise<Result>
}

/** Times as the API shows them: `2024-05-01T10:00:00.123456Z`. The time zone of all is UTC. */
types.setTypeParser(types.builtins.TIMESTAMPTZ, (text) =>
  text.replace(' ', 'T').replace(/\+00$/, 'Z'),
)
types.setTypeParser(types.builtins.INT8, Number)

const many = 10_000

export function openDatabase(settings: DatabaseSettings): Database {
  const { url, schema, maxPoolSize = many, idleTimeoutMs, log, onStatement } = settings
  const pool = new Pool({
    connectionString: url,
    max: maxPoolSize,
    idleTimeoutMillis: idleTimeoutMs,
    connectionTimeoutMillis: 10_000,
    application_name: 'portcullis-auth',
    // Our statements are short: to compile them takes longer than to run them.
    options: '-c TimeZone=UTC -c jit=off',
  })
  // A connection that is lost while nobody uses it; the next user gets another one.
  pool.on('error', (error) => log.warning(`Lost a connection to PostgreSQL: ${error.message}`))
  const texts = new Map<Statement, string>()
  const toText = (statement: Statement): string => {
    let text = texts.get(statement)
    if (text === undefined) {
      text = withSchema(statement.text, schema)
      texts.set(statement, text)
    }
    return text
  }
  const runOn =
    (client: Pool | PoolClient): Queries['run'] =>
    async <R extends Row>(statement: Statement, values: Values = []) => {
      onStatement?.(statement.name)
      const { name } = statement
      const { rows } = await client.query<R>({ name, text: toText(statement), values: [...values] })
      return rows
    }

  return {
    run: runOn(pool),
    async transaction(use) {
      const client = await pool.connect()
      try {
        await client.query('begin')
        const result = await use({ run: runOn(client) })
        await client.query('commit')
        client.release()
        return result
      } catch (error) {
        // A connection that cannot even roll back is not used again.
        const isBroken = await client.query('rollback').then(
          () => false,
          () => true,
        )
        client.release(isBroken)
        throw error
      }
    },
    async [Symbol.asyncDispose]() {
      await pool.end()
    },
  }
}
