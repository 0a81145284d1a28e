import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@portcullis/service-kit/log'
import { Pool, type PoolClient, types } from 'pg'
import { AuditNotices, type AuditSettings, toAuditSession } from './audit-notices.ts'
import { DatabaseLostError, toDatabaseError } from './database-lost-error.ts'
import { type Statement, withSchema } from './statement.ts'

export interface DatabaseSettings {
  /** `postgres://…` */
  readonly url: string
  readonly schema: string
  /** Undefined: no limit of ours. */
  readonly maxPoolSize: number | undefined
  readonly idleTimeoutMs: number
  /** How long a statement may take; afterwards nobody waits for it. Undefined: as long as it likes. */
  readonly statementTimeoutMs?: number
  readonly log: Pick<Log, 'warning'>
  /** Hears of every statement, by its name: tests count them. */
  readonly onStatement?: (name: string) => void
  /** Hears when a statement begins; what it returns hears how that ended. */
  readonly watchStatement?: (name: string) => StatementEnded
  /** Where the log has audit entries as well. */
  readonly audit?: AuditSettings
}

export type StatementEnded = (error?: unknown) => void

/** How many connections there are. */
export interface PoolState {
  readonly used: number
  readonly idle: number
  /** Who waits for one. */
  readonly waiting: number
}

export type Row = Readonly<Record<string, unknown>>
export type Values = readonly unknown[]

/** What runs statements: the pool, or one connection inside a transaction. */
export interface Queries {
  /** @throws {DatabaseLostError} when PostgreSQL does not answer. */
  run<R extends Row = Row>(statement: Statement, values?: Values): Promise<readonly R[]>
}

export interface Database extends Queries, AsyncDisposable {
  /** Everything or nothing. Most writes are one statement and need none of this. */
  transaction<Result>(use: (queries: Queries) => Promise<Result>): Promise<Result>
  readonly pool: PoolState
}

/** Times as the API shows them: `2024-05-01T10:00:00.123456Z`. The time zone of all is UTC. */
types.setTypeParser(types.builtins.TIMESTAMPTZ, (text) =>
  // An operator may ban somebody for ever in SQL; no code of ours could read that as a time.
  text === 'infinity' ? lastTime : text.replace(' ', 'T').replace(/\+00$/, 'Z'),
)
types.setTypeParser(types.builtins.INT8, Number)

const lastTime = '9999-12-31T23:59:59.999999Z'
const many = 10_000
const connectTimeoutMs = 10_000
/** How long PostgreSQL has to close our connections. */
const closeTimeoutMs = 2_000
/** PostgreSQL is first to give up: then the connection can stay. */
const graceMs = 1_000

export function openDatabase(settings: DatabaseSettings): Database {
  const { url, schema, maxPoolSize = many, idleTimeoutMs, log, onStatement } = settings
  const { statementTimeoutMs = 0, watchStatement, audit } = settings
  const pool = new Pool({
    connectionString: url,
    max: maxPoolSize,
    idleTimeoutMillis: idleTimeoutMs,
    connectionTimeoutMillis: Math.min(statementTimeoutMs || connectTimeoutMs, connectTimeoutMs),
    // A server that vanished without a word.
    keepAlive: true,
    ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs + graceMs }),
    application_name: 'portcullis-auth',
    options: toSessionSettings(statementTimeoutMs, audit),
  })
  // A connection that is lost while nobody uses it; the next user gets another one.
  pool.on('error', (error) => log.warning(`Lost a connection to PostgreSQL: ${error.message}`))
  // One that is lost while it is used: the statement hears of it, if there is one.
  pool.on('connect', (client) => client.on('error', ignore))
  const untilClosed = watchConnections(pool)
  const notices = audit && new AuditNotices(pool)
  const texts = new Map<Statement, string>()
  const toText = (statement: Statement): string => {
    let text = texts.get(statement)
    if (text === undefined) {
      text = withSchema(statement.text, schema)
      texts.set(statement, text)
    }
    return text
  }
  const runOn = async <R extends Row>(
    client: PoolClient,
    statement: Statement,
    values: Values,
  ): Promise<readonly R[]> => {
    const { name } = statement
    const text = toText(statement)
    const { rows } = await client.query<R>({ name, text, values: [...values] })
    return rows
  }
  const watched = async <Result>(name: string, run: () => Promise<Result>): Promise<Result> => {
    onStatement?.(name)
    const ended = watchStatement?.(name)
    try {
      const result = await run()
      ended?.()
      return result
    } catch (thrown) {
      const error = toDatabaseError(thrown)
      ended?.(error)
      throw error
    }
  }
  /** Entries that are there to stay; those of a statement that failed never were. */
  const tellAudited = (client: PoolClient, isLasting: boolean): void => {
    const written = notices?.take(client) ?? []
    if (isLasting && written.length > 0) audit?.onWritten(written)
  }

  return {
    run: (statement, values = []) =>
      watched(statement.name, async () => {
        const client = await pool.connect()
        const rows = await runOn<never>(client, statement, values).catch((error: unknown) => {
          client.release(true)
          throw error
        })
        client.release()
        tellAudited(client, true)
        return rows
      }),
    async transaction(use) {
      const client = await pool.connect().catch((error: unknown) => {
        throw toDatabaseError(error)
      })
      try {
        await client.query('begin')
        const result = await use({
          run: (statement, values = []) =>
            watched(statement.name, () => runOn<never>(client, statement, values)),
        })
        await client.query('commit')
        client.release()
        tellAudited(client, true)
        return result
      } catch (thrown) {
        const error = toDatabaseError(thrown)
        client.release(error instanceof DatabaseLostError || !(await isRolledBack(client)))
        tellAudited(client, false)
        throw error
      }
    },
    get pool() {
      const { totalCount, idleCount, waitingCount } = pool
      return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount }
    },
    async [Symbol.asyncDispose]() {
      await pool.end()
      // The pool itself does not wait for that, and PostgreSQL may be the next to be stopped: it
      // would complain about connections that are still there.
      await Promise.race([untilClosed(), sleep(closeTimeoutMs, undefined, { ref: false })])
    },
  }
}

/** @returns what resolves when a pool that has ended has no connection left. */
function watchConnections(pool: Pool): () => Promise<void> {
  const closed = Promise.withResolvers<void>()
  let count = 0
  pool.on('connect', () => {
    count += 1
  })
  pool.on('remove', () => {
    count -= 1
    if (pool.ended && count === 0) closed.resolve()
  })
  return async () => {
    if (count > 0) await closed.promise
  }
}

function toSessionSettings(statementTimeoutMs: number, audit: AuditSettings | undefined): string {
  const settings = {
    TimeZone: 'UTC',
    // Our statements are short: to compile them takes longer than to run them.
    jit: 'off',
    ...(statementTimeoutMs > 0 && {
      statement_timeout: statementTimeoutMs,
      // Otherwise the locks of a process that vanished would stay.
      idle_in_transaction_session_timeout: statementTimeoutMs,
    }),
    ...(audit && toAuditSession(audit)),
  }
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/** A connection that cannot even roll back is not used again. */
async function isRolledBack(client: PoolClient): Promise<boolean> {
  return await client.query('rollback').then(
    () => true,
    () => false,
  )
}

function ignore(): void {}
