import type { Client } from 'pg'
import { openClient } from '../connection/open-client.ts'
import { type Defects, findDefects, refuseLost, repair } from '../schema/repair.ts'
import { quote, withSchema } from '../statement.ts'
import { apply, inTransaction } from './apply.ts'
import {
  type Comparison,
  compare,
  type Migration,
  readMigrations,
  refuseUnknown,
  toChangedText,
  toChecksum,
} from './files.ts'
import { takeLease } from './lease.ts'
import { prepare, readSchemaState } from './state.ts'
import { openWatch } from './watch.ts'

export interface MigrationSettings {
  readonly url: string
  readonly schema: string
  /** Told of each that is applied. */
  readonly onApplied?: (version: string) => void
  /** Told what was missing, though its migration had been applied, and was made again. */
  readonly onRepaired?: (thing: string) => void
  /** Told whom we wait for, what was tried again, and how far long work has got. */
  readonly onProgress?: (message: string) => void
  /** How long a statement waits for a lock before it lets others pass and tries again. */
  readonly lockTimeoutMs?: number
  /** How long to wait for another process that migrates, and to try again for a lock. */
  readonly waitMs?: number
  /** Takes files that were changed after they were applied for the right ones. */
  readonly acceptsChanged?: boolean
  /** Ours; tests bring others. */
  readonly migrations?: readonly Migration[]
  /** How long a run is believed in that gives no sign of life; tests do not wait so long. */
  readonly leaseMs?: number
  /** How often the progress of long work is reported. */
  readonly tellEveryMs?: number
}

/**
 * Applies what is missing. Several processes may start together: one applies, the others wait and find
 * nothing left to do.
 *
 * Each file runs in a transaction of its own, or outside of one where its first line is
 * `-- concurrently`. Nothing here needs a session: it works through a transaction pooler.
 * @returns the versions applied.
 */
export async function migrate(settings: MigrationSettings): Promise<readonly string[]> {
  const { url, schema, onApplied, onProgress = () => {}, onRepaired = () => {} } = settings
  const {
    lockTimeoutMs = 2_000,
    waitMs = 600_000,
    leaseMs = 20_000,
    tellEveryMs = 5_000,
  } = settings
  const migrations = settings.migrations ?? (await readMigrations())
  const client = await openClient(url, 'portcullis-auth migrate')
  try {
    const readFindings = async () => {
      const { isPrepared, applied } = await readSchemaState(client, schema)
      const found = compare(migrations, applied)
      refuseUnknown(found, schema)
      if (found.changed.length > 0 && !settings.acceptsChanged) throw toChangedError(found)
      const isNew = applied.size === 0
      // A later release may have removed on purpose what we would miss.
      const isOurs = found.missing.length + found.newer.length === 0
      const isKnown = settings.migrations === undefined && !isNew && isOurs
      const defects = isKnown ? await findDefects({ client, schema }) : noDefects
      refuseLost(defects, schema)
      return { ...found, isPrepared, isNew, defects }
    }
    const before = await readFindings()
    if (before.isPrepared && isUpToDate(before)) return []
    if (!before.isPrepared) {
      await prepare(client, { schema, lockTimeoutMs, waitMs, onProgress })
    }
    const lease = await takeLease(client, {
      schema,
      lastsMs: leaseMs,
      waitMs,
      onWaiting: onProgress,
    })
    try {
      // The holder of the lease before us may have applied them.
      const found = await readFindings()
      if (isUpToDate(found)) return []
      await using watch = await openWatch({
        ...{ url, schema, lease, tellEveryMs, onProgress },
        renewEveryMs: leaseMs / 4,
      })
      const steps = {
        ...{ client, schema, lease, watch, lockTimeoutMs, waitMs, onProgress },
        isNew: found.isNew,
        servesFrom: oldestServer,
      }
      const { missing, unchecked, changed } = found
      const restated = migrations.filter(
        (one) => unchecked.includes(one) || changed.includes(one.version),
      )
      if (restated.length > 0) {
        await inTransaction('checksums', steps, () => restate(client, schema, restated))
      }
      for (const migration of missing) {
        await apply(migration, steps)
        onApplied?.(migration.version)
      }
      const { defects } = missing.length > 0 && !found.isNew ? await readFindings() : found
      await repair(defects, { ...steps, onRepaired })
      return missing.map(({ version }) => version)
    } finally {
      await lease.release(client).catch(() => undefined)
    }
  } finally {
    await client.end()
  }
}

/**
 * The last migration of the release before this one. Its servers may run on our tables, so that a
 * release can be rolled out, and taken back, one server at a time.
 */
export const oldestServer = '0015-code-attempts'

const noDefects: Defects = { lost: [], repairable: [] }

function isUpToDate(found: Comparison & { readonly defects: Defects }): boolean {
  const { missing, unchecked, changed, defects } = found
  return missing.length + unchecked.length + changed.length + defects.repairable.length === 0
}

/** Keeps the checksums of files that were applied without one, or that were changed on purpose. */
async function restate(
  client: Client,
  schema: string,
  migrations: readonly Migration[],
): Promise<void> {
  const text =
    'update {ns}.schema_migrations set checksum = $2, serves_from = coalesce(serves_from, $3)' +
    ' where version = $1'
  for (const migration of migrations) {
    const values = [migration.version, toChecksum(migration), oldestServer]
    await client.query(withSchema(text, schema), values)
  }
}

function toChangedError({ changed }: Comparison): Error {
  return new Error(
    `${toChangedText(changed)} Nothing was applied. Bring back the files of the release; or, where they ` +
      'were changed on purpose, run auth migrate --accept-changed.',
  )
}

interface GrantsSettings {
  readonly schema: string
  /** Whom the server connects as. */
  readonly role: string
  /** Whom migrations are applied as: the tables of later ones are covered as well. */
  readonly owner: string | undefined
}

/** The statements that let a role serve, and nothing else. */
export function toGrants({ schema, role, owner }: GrantsSettings): string {
  const [inSchema, to] = [`in schema ${quote(schema)}`, `to ${quote(role)}`]
  const forOwner = owner === undefined ? '' : ` for role ${quote(owner)}`
  const runnerTables = ['schema_migrations', 'migration_lease']
  const own = runnerTables.map((name) => quote(schema, name)).join(', ')
  return `-- Lets the role serve and write backups: it reads and writes rows. It cannot change tables or migrate.
grant usage on schema ${quote(schema)} ${to};
grant select, insert, update, delete on all tables ${inSchema} ${to};
grant select on all sequences ${inSchema} ${to};
revoke insert, update, delete on ${own} from ${quote(role)};
-- The same for what later migrations make.
alter default privileges${forOwner} ${inSchema}
  grant select, insert, update, delete on tables ${to};
alter default privileges${forOwner} ${inSchema} grant select on sequences ${to};
`
}
