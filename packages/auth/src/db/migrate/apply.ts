import { setTimeout as sleep } from 'node:timers/promises'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'
import type { Client } from 'pg'
import { withSchema } from '../statement.ts'
import { runTransaction } from '../transaction.ts'
import {
  findBuiltIndex,
  isConcurrent,
  type Migration,
  splitStatements,
  toChecksum,
  toTransactional,
} from './files.ts'
import type { Lease } from './lease.ts'
import type { Watch } from './watch.ts'

export interface ApplySettings {
  readonly client: Client
  readonly schema: string
  readonly lease: Lease
  readonly watch: Watch
  /** How long a statement may wait for a lock; later statements queue behind it. */
  readonly lockTimeoutMs: number
  /** How long to retry. */
  readonly waitMs: number
  /** The oldest release that can serve on the tables; see `oldestServer`. */
  readonly servesFrom: string
  readonly onProgress: (message: string) => void
}

/**
 * Applies a migration to existing tables in a transaction. A concurrent migration runs outside one, and can be
 * repeated if it was interrupted.
 */
export async function apply(migration: Migration, settings: ApplySettings): Promise<void> {
  const { schema } = settings
  const step = `Migration ${migration.version}`
  settings.lease.enter(migration.version)
  if (isConcurrent(migration)) {
    for (const statement of splitStatements(migration.text)) {
      await applyConcurrently(step, withSchema(statement, schema), settings)
    }
    await inTransaction(step, settings, () => record([migration], settings))
    return
  }
  await inTransaction(step, settings, async () => {
    await settings.client.query(withSchema(migration.text, schema))
    await record([migration], settings)
  })
}

/**
 * Applies migrations to a schema without tables. One transaction for all of them takes half of the time, and
 * a failure leaves nothing behind.
 */
export async function applyToNew(
  migrations: readonly Migration[],
  settings: ApplySettings,
): Promise<void> {
  await inTransaction('The first migration', settings, async () => {
    for (const migration of migrations) {
      settings.lease.enter(migration.version)
      await settings.client.query(withSchema(toTransactional(migration.text), settings.schema))
    }
    await record(migrations, settings)
  })
}

async function record(migrations: readonly Migration[], settings: ApplySettings): Promise<void> {
  const { client, schema, servesFrom } = settings
  const text =
    'insert into {ns}.schema_migrations (version, checksum, serves_from)' +
    ' select version, checksum, $3 from unnest($1::text[], $2::text[]) as m (version, checksum)'
  const versions = migrations.map(({ version }) => version)
  await client.query(withSchema(text, schema), [versions, migrations.map(toChecksum), servesFrom])
}

/**
 * Lifts the time limits of the role, which are meant for requests; only the wait for a lock is
 * limited.
 */
const withoutLimits = `
  select set_config(name, value, true)
  from (values ('lock_timeout', $1), ('statement_timeout', '0'), ('transaction_timeout', '0'),
    ('idle_in_transaction_session_timeout', '0')) as limits (name, value)
  -- PostgreSQL before 17 has no transaction_timeout.
  where current_setting(name, true) is not null`

/** A lock was not acquired in time, or two transactions deadlocked. */
const isWorthRetrying = (error: unknown): boolean => ['55P03', '40P01'].includes(toCode(error))

/**
 * While a statement waits for a table lock, other statements queue behind it. It therefore gives up
 * soon, lets them proceed, and retries.
 * @param step the start of messages: `Migration 0001-init`.
 */
export async function inTransaction(
  step: string,
  settings: ApplySettings,
  run: () => Promise<void>,
): Promise<void> {
  const { client, lease, watch, lockTimeoutMs } = settings
  await retrying(step, settings, async () => {
    await runTransaction(client, async () => {
      await client.query(withoutLimits, [`${lockTimeoutMs}`])
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      watch.enter(step, rows[0]?.pid)
      await run()
      await lease.renew(client)
    })
  })
}

const longestPauseMs = 5_000

async function retrying(
  step: string,
  { watch, waitMs, onProgress }: ApplySettings,
  attempt: () => Promise<void>,
): Promise<void> {
  const startedAt = performance.now()
  for (let count = 1; ; count += 1) {
    try {
      await attempt()
      return
    } catch (error) {
      if (!isWorthRetrying(error)) throw error
      const blockers = watch.takeBlockers()
      const who = blockers === undefined ? '' : `, held by ${blockers}`
      if (performance.now() - startedAt > waitMs) {
        throw new Error(
          `${step} could not acquire its lock within ${Math.round(waitMs / 1000)} s${who}. End the ` +
            'transaction that holds it, or raise AUTH_DB_MIGRATION_WAIT.',
          { cause: error },
        )
      }
      const pauseMs = Math.min(longestPauseMs, 250 * 2 ** count) * (0.5 + Math.random() / 2)
      onProgress(
        `${step} could not acquire its lock (attempt ${count}${who}): retrying in ` +
          `${(pauseMs / 1000).toFixed(1)} s`,
      )
      await sleep(pauseMs)
    }
  }
}

/** Runs a statement outside a transaction. @param step the start of messages. */
export async function applyConcurrently(
  step: string,
  statement: string,
  settings: ApplySettings,
): Promise<void> {
  const { client, lease, watch } = settings
  const index = findBuiltIndex(statement)
  watch.enter(step, undefined)
  await retrying(step, settings, async () => {
    if (index !== undefined) await clearIndex(index, settings)
    await client.query(statement).catch((error: unknown) => {
      throw explainTimeout(error, step)
    })
    if (index !== undefined && (await readIndex(index, settings)) === 'invalid') {
      throw new Error(`${step} did not complete the index ${index}. Run auth migrate again.`)
    }
    await lease.renew(client)
  })
}

/** A session limit cannot be lifted for a single statement outside a transaction. */
function explainTimeout(error: unknown, step: string): unknown {
  if (toCode(error) !== '57014') return error
  return new Error(
    `${step} was cancelled (${toReason(error)}). It builds indexes concurrently, ` +
      'which may take long: set statement_timeout = 0 for the role that runs migrations.',
    { cause: error },
  )
}

type IndexState = 'missing' | 'valid' | 'invalid' | 'building'

/** An index is invalid while it is being built. */
const findIndex = `
  select i.indisvalid as "isValid",
    exists (select from pg_stat_progress_create_index p where p.index_relid = i.indexrelid)
      as "isBuilding"
  from pg_index i join pg_class c on c.oid = i.indexrelid
  join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relname = $2`

async function readIndex(
  index: string,
  { client, schema }: Pick<ApplySettings, 'client' | 'schema'>,
): Promise<IndexState> {
  const { rows } = await client.query<{ isValid: boolean; isBuilding: boolean }>(findIndex, [
    schema,
    index,
  ])
  const [row] = rows
  if (row === undefined) return 'missing'
  if (row.isValid) return 'valid'
  return row.isBuilding ? 'building' : 'invalid'
}

const pollMs = 500

/**
 * Removes an incomplete index of a failed attempt. If the backend of a killed process is still
 * building it, this waits for it instead.
 */
async function clearIndex(index: string, settings: ApplySettings): Promise<void> {
  const { client, schema, lease, onProgress } = settings
  let isReported = false
  for (;;) {
    const state = await readIndex(index, settings)
    if (state === 'invalid') {
      onProgress(`Removing the index ${index}, which an earlier attempt left incomplete`)
      await client.query(withSchema(`drop index concurrently if exists {ns}."${index}"`, schema))
    }
    if (state !== 'building') return
    if (!isReported)
      onProgress(`Waiting for the index ${index}, which another connection is building`)
    isReported = true
    await lease.renew(client)
    await sleep(pollMs)
  }
}
