import type { Client } from 'pg'
import { openClient } from '../connection/open-client.ts'
import { type Defects, findDefects, refuseLost, repair } from '../schema/repair.ts'
import { quote, withSchema } from '../statement.ts'
import { apply, applyToNew, inTransaction } from './apply.ts'
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
  /** Called for each applied migration. */
  readonly onApplied?: (version: string) => void
  /**
   * Called for each repaired object, which was missing or unusable although its migration had been
   * applied.
   */
  readonly onRepaired?: (object: string) => void
  /** Called with waits, retries and the progress of long steps. */
  readonly onProgress?: (message: string) => void
  /** How long a statement waits for a lock before it lets others proceed and retries. */
  readonly lockTimeoutMs?: number
  /** How long to wait for another process that migrates, and to retry for a lock. */
  readonly waitMs?: number
  /** Whether to accept files that were changed after they were applied. */
  readonly acceptsChanged?: boolean
  /** Default: the files of this release; tests pass others. */
  readonly migrations?: readonly Migration[]
  /** How long the lease of a process that does not respond lasts; tests use a shorter time. */
  readonly leaseMs?: number
  /** How often the progress of long steps is reported. */
  readonly reportEveryMs?: number
}

/**
 * Applies missing migrations. Several processes may start together: one applies the migrations, and
 * the others wait for it.
 *
 * A new schema gets all tables in one transaction. On existing tables, each file runs in its own transaction, and a
 * file that starts with `-- concurrently` outside one.
 * No session state is used, so migrations work through a transaction pooler.
 * @returns the applied versions.
 */
export async function migrate(settings: MigrationSettings): Promise<readonly string[]> {
  const { url, schema, onApplied, onProgress = () => {}, onRepaired = () => {} } = settings
  const {
    lockTimeoutMs = 2_000,
    waitMs = 600_000,
    leaseMs = 20_000,
    reportEveryMs = 5_000,
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
      // A later release may have removed objects on purpose.
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
      // The previous holder of the lease may have applied the missing migrations.
      const found = await readFindings()
      if (isUpToDate(found)) return []
      await using watch = await openWatch({
        ...{ url, schema, lease, reportEveryMs, onProgress },
        renewEveryMs: leaseMs / 4,
      })
      const steps = {
        ...{ client, schema, lease, watch, lockTimeoutMs, waitMs, onProgress },
        servesFrom: oldestServer,
      }
      const { missing, unchecked, changed } = found
      const needingChecksum = migrations.filter(
        (one) => unchecked.includes(one) || changed.includes(one.version),
      )
      if (needingChecksum.length > 0) {
        await inTransaction('Update of the checksums', steps, () =>
          storeChecksums(client, schema, needingChecksum),
        )
      }
      if (found.isNew) {
        await applyToNew(missing, steps)
        for (const { version } of missing) onApplied?.(version)
      } else {
        for (const migration of missing) {
          await apply(migration, steps)
          onApplied?.(migration.version)
        }
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
 * The last migration of the previous release. Its servers can run on our tables, so that a release
 * can be rolled out and rolled back one server at a time.
 */
export const oldestServer = '0015-code-attempts'

const noDefects: Defects = { lost: [], repairable: [] }

function isUpToDate(found: Comparison & { readonly defects: Defects }): boolean {
  const { missing, unchecked, changed, defects } = found
  return missing.length + unchecked.length + changed.length + defects.repairable.length === 0
}

/** Stores the checksums of files that were applied without one or changed on purpose. */
async function storeChecksums(
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
    `${toChangedText(changed)} No migration was applied. Restore the files of the release or, if they ` +
      'were changed on purpose, run auth migrate --accept-changed.',
  )
}

interface GrantsSettings {
  readonly schema: string
  /** The role that the server connects as. */
  readonly role: string
  /** The role that applies migrations; default privileges cover the tables of later ones. */
  readonly owner: string | undefined
}

/** Returns the statements that grant a role the privileges to serve, and no others. */
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
-- The same privileges for objects of later migrations.
alter default privileges${forOwner} ${inSchema}
  grant select, insert, update, delete on tables ${to};
alter default privileges${forOwner} ${inSchema} grant select on sequences ${to};
`
}
