import type { Queries } from '../../db/database.ts'
import { DatabaseLostError } from '../../db/database-errors.ts'
import { compare, readMigrations } from '../../db/migrate/files.ts'
import { checkReadiness, type ReadinessRow } from './statements.ts'

export interface OutboxState {
  readonly waiting: number
  readonly givenUp: number
  /** The age of the oldest unsent message; 0 when there is none. */
  readonly oldestSeconds: number
  readonly overdueSeconds: number
}

export interface ReadinessState {
  readonly isReady: boolean
  /** `ok`, or the reason for the failure. */
  readonly checks: Readonly<Record<'database' | 'migrations' | 'outbox', string>>
  /** Undefined when the database could not be queried. */
  readonly outbox: OutboxState | undefined
}

export interface Readiness {
  /** Never rejects. However often it is called, the database is queried at most once a second. */
  check(): Promise<ReadinessState>
}

export interface ReadinessSettings {
  readonly db: Queries
  /** How long a result is reused, in milliseconds. */
  readonly freshMs?: number
  /** How long a caller waits for the database, in milliseconds. */
  readonly waitMs?: number
}

/** Longer than the lease of a message: if one is overdue by more, no process is sending. */
const stuckSeconds = 300

export function createReadiness({
  db,
  freshMs = 1_000,
  waitMs = 2_000,
}: ReadinessSettings): Readiness {
  let known: { readonly at: number; readonly state: ReadinessState } | undefined
  let pending: Promise<ReadinessState> | undefined

  const query = async (): Promise<ReadinessState> => {
    const at = performance.now()
    const state = await readState(db)
    known = { at, state }
    pending = undefined
    return state
  }
  return {
    async check() {
      if (known !== undefined && performance.now() - known.at < freshMs) return known.state
      // While a query is pending, no other one is started.
      pending ??= query()
      return await Promise.race([pending, afterWaiting(waitMs)])
    },
  }
}

async function afterWaiting(waitMs: number): Promise<ReadinessState> {
  await new Promise((resolve) => setTimeout(resolve, waitMs).unref())
  return toUnreachable(`No response within ${waitMs / 1_000} s`)
}

async function readState(db: Queries): Promise<ReadinessState> {
  try {
    const [row] = await db.run(checkReadiness)
    if (row === undefined) return toUnreachable('No response')
    const migrations = await judgeMigrations(row)
    const outbox = judgeOutbox(row)
    return {
      isReady: migrations === 'ok' && outbox === 'ok',
      checks: { database: 'ok', migrations, outbox },
      outbox: {
        waiting: row.waiting,
        givenUp: row.given_up,
        oldestSeconds: Math.max(0, row.oldest_seconds ?? 0),
        overdueSeconds: Math.max(0, row.overdue_seconds ?? 0),
      },
    }
  } catch (error) {
    // The reason may contain host and role names, so only the log has it.
    const isLost = error instanceof DatabaseLostError
    return toUnreachable(isLost ? 'Cannot be reached' : 'Cannot be queried')
  }
}

function toUnreachable(reason: string): ReadinessState {
  const unknown = 'Unknown: the database was not queried'
  const checks = { database: reason, migrations: unknown, outbox: unknown }
  return { isReady: false, checks, outbox: undefined }
}

async function judgeMigrations({ migrations }: ReadinessRow): Promise<string> {
  const applied = migrations.map(({ version, checksum, serves_from }) => ({
    version,
    checksum,
    servesFrom: serves_from,
  }))
  const { missing, unknown } = compare(
    await readMigrations(),
    new Map(applied.map((one) => [one.version, one])),
  )
  if (missing.length > 0) return `Missing: ${missing.map(({ version }) => version).join(', ')}`
  if (unknown.length > 0) return `From a later release: ${unknown.join(', ')}`
  return 'ok'
}

function judgeOutbox({ overdue_seconds: seconds }: ReadinessRow): string {
  if (seconds === null || seconds < stuckSeconds) return 'ok'
  return `Stuck: a message has been due for ${Math.round(seconds)} s, but no process has sent it`
}
