import { type PoolClient, type QueryConfig, types } from 'pg'
import { AuditNotices, type AuditSettings, toAuditSession } from './audit-notices.ts'
import { Batches, type Executed } from './batches.ts'
import {
  type Checkout,
  ConnectionPool,
  type PoolSettings,
  type PoolState,
} from './connection/connection-pool.ts'
import { runPrepared } from './connection/prepared-query.ts'
import { runScoped } from './connection/scoped-query.ts'
import { toLocalSettings, toSessionSettings, toUtcTime } from './connection/session-settings.ts'
import { DatabaseLostError, leavesConnectionUsable, toDatabaseError } from './database-errors.ts'
import {
  isLostPreparation,
  isStalePlan,
  type PreparedStatements,
  StatementNames,
  toUniqueName,
} from './prepared-statements.ts'
import {
  findShared,
  type NoValues,
  type Row,
  type Statement,
  toPositional,
  withSchema,
} from './statement.ts'

export type { PoolState } from './connection/connection-pool.ts'
export type { Row } from './statement.ts'

export interface DatabaseSettings extends PoolSettings {
  readonly schema: string
  readonly preparedStatements?: PreparedStatements
  /** Called with the name of every statement; tests count them. */
  readonly onStatement?: (name: string) => void
  /** Called when a statement starts; the returned function is called when it ends. */
  readonly watchStatement?: (name: string) => StatementEnded
  /** Set if audit entries are logged as well. */
  readonly audit?: AuditSettings
}

export type StatementEnded = (error?: unknown) => void

/** Runs statements on the pool, or on one connection inside a transaction. */
export interface Queries {
  /** @throws {DatabaseLostError} if PostgreSQL is unavailable. */
  run<R extends Row>(statement: Statement<NoValues, R>): Promise<readonly R[]>
  run<V extends object, R extends Row>(
    statement: Statement<V, R>,
    values: NoInfer<V>,
  ): Promise<readonly R[]>
}

export interface Database extends Queries, AsyncDisposable {
  /**
   * Runs several statements atomically. Most writes are a single statement and do not need it.
   * @param use is called a second time if a prepared statement was lost, so it must not do anything
   * that a rollback does not undo.
   */
  transaction<Result>(use: (queries: Queries) => Promise<Result>): Promise<Result>
  readonly pool: PoolState
}

types.setTypeParser(types.builtins.TIMESTAMPTZ, toUtcTime)
types.setTypeParser(types.builtins.INT8, Number)

export function openDatabase(settings: DatabaseSettings): Database {
  const { schema, log, onStatement, statementTimeoutMs = 0, watchStatement, audit } = settings
  const session = toSessionSettings({
    statementTimeoutMs,
    more: audit ? toAuditSession(audit) : {},
  })
  const localSettings = toLocalSettings(session)
  const pool = new ConnectionPool(settings, session)
  const notices = audit && new AuditNotices()
  if (notices) pool.onConnect((client) => notices.subscribe(client))
  const names = new StatementNames(settings.preparedStatements ?? 'auto', ({ code, message }) =>
    log.warning(
      `A prepared statement was lost (${code}: ${message}): a connection pooler in transaction mode is between this server and PostgreSQL. Statements are no longer prepared. Set AUTH_DB_PREPARED_STATEMENTS=off, or enable prepared statements in the pooler`,
    ),
  )
  const prepared = new Map<Statement, { readonly name: string; readonly text: string }>()
  const prepare = (statement: Statement) => {
    let known = prepared.get(statement)
    if (known === undefined) {
      const text = withSchema(statement.text, schema)
      known = { name: toUniqueName(statement.name, text), text }
      prepared.set(statement, known)
    }
    return known
  }

  /** @param setUp runs first, in the same transaction. */
  const send = async <R extends Row>(
    { client, facts }: Checkout,
    config: QueryConfig,
    setUp: string | undefined,
  ): Promise<readonly R[]> => {
    const run =
      setUp !== undefined
        ? runScoped<R>(client, setUp, config)
        : config.name !== undefined && facts.isOwn
          ? runPrepared<R>(client, config)
          : client.query<R>(config)
    return (await run).rows
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

  const takeAudited = (client: PoolClient) => notices?.take(client) ?? []
  const reportAudited = (written: Executed['audited']): void => {
    if (written.length > 0) audit?.onWritten(written)
  }

  /** @param canName whether the statement may be prepared. */
  const execute = async (
    statement: Statement,
    values: object | undefined,
    canName = true,
  ): Promise<Executed> => {
    const checkout = await pool.acquire()
    const { client, facts, release } = checkout
    const { name, text } = prepare(statement)
    const isNamed = canName && names.isUsed(facts.isOwn)
    const query = { ...(isNamed && { name }), text, values: toPositional(statement, values) }
    try {
      const rows = await send<never>(checkout, query, facts.isSetUp ? undefined : localSettings)
      const audited = takeAudited(client)
      release(true)
      return { rows, audited }
    } catch (error) {
      const isLost = isNamed && isUnprepared(error)
      // The entries of a failed statement were rolled back.
      takeAudited(client)
      release(!isLost && leavesConnectionUsable(error))
      // The statement was not executed, so it is sent again without a name.
      if (isLost) return await execute(statement, values, false)
      throw error
    }
  }

  const batches = new Batches((statement, values) => execute(statement, values))

  const run = async (statement: Statement, values: object): Promise<readonly Row[]> => {
    const shared = findShared(statement)
    const { rows, audited } = await (shared === undefined
      ? execute(statement, values)
      : batches.run(statement, shared, values))
    reportAudited(audited)
    return rows
  }

  /**
   * Whether the statement was not executed because its prepared form is missing or out of date. If it
   * is missing, statements are no longer prepared.
   */
  const isUnprepared = (error: unknown): boolean => {
    if (isLostPreparation(error)) names.giveUp(error)
    return isLostPreparation(error) || isStalePlan(error)
  }

  /** @param canName whether statements may be prepared. */
  const attempt = async <Result>(
    checkout: Checkout,
    use: (queries: Queries) => Promise<Result>,
    canName: boolean,
  ): Promise<{ readonly result: Result } | 'unprepared'> => {
    const { client, facts, release } = checkout
    let isLost = false
    try {
      await client.query(facts.isSetUp ? 'begin' : `begin; ${localSettings}`)
      const result = await use({
        run: (statement: Statement, values?: object) =>
          watched(statement.name, async () => {
            const { name, text } = prepare(statement)
            const isNamed = canName && names.isUsed(facts.isOwn)
            const query = {
              ...(isNamed && { name }),
              text,
              values: toPositional(statement, values),
            }
            return await send<never>(checkout, query, undefined).catch((error: unknown) => {
              isLost ||= isNamed && isUnprepared(error)
              throw error
            })
          }),
      })
      await client.query('commit')
      const audited = takeAudited(client)
      release(true)
      reportAudited(audited)
      return { result }
    } catch (thrown) {
      const error = toDatabaseError(thrown)
      const isUsable = !(error instanceof DatabaseLostError) || leavesConnectionUsable(error)
      const isKept = isUsable && !isLost && (await isRolledBack(client))
      takeAudited(client)
      release(isKept)
      if (isLost) return 'unprepared'
      throw error
    }
  }

  return {
    run: (statement: Statement, values: object = {}) =>
      watched(statement.name, () => run(statement, values)) as Promise<readonly never[]>,
    async transaction(use) {
      const begin = async (canName: boolean) => attempt(await pool.acquire(), use, canName)
      let ended = await begin(true)
      if (ended === 'unprepared') ended = await begin(false)
      if (ended === 'unprepared')
        throw new Error('An unnamed statement was reported as not prepared')
      return ended.result
    },
    get pool() {
      return pool.state
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}

/** A connection that cannot roll back is not reused. */
async function isRolledBack(client: PoolClient): Promise<boolean> {
  return await client.query('rollback').then(
    () => true,
    () => false,
  )
}
