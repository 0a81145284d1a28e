import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { withSchema } from '../statement.ts'

/**
 * The right to change a schema: a row that names its holder and expires unless it is renewed.
 *
 * It is not an advisory lock. A session lock would stay in the connection of a transaction pooler.
 * A transaction lock would keep its transaction open while an index is built, and CREATE INDEX
 * CONCURRENTLY waits for all older transactions, including those that wait for the lock. See
 * docs/decisions/020-migrations-under-a-lease.md.
 */
export interface Lease {
  /** Records the current step of the holder, which waiting processes log. */
  enter(step: string): void
  /**
   * Renews the lease on this connection. Inside a transaction it is the last statement, so that a
   * process that lost the lease does not commit.
   * @throws {Error} if another process holds it by now.
   */
  renew(client: Client): Promise<void>
}

export const leaseTable =
  'create table if not exists {ns}.migration_lease (' +
  ' id boolean primary key default true check (id),' +
  ' holder uuid not null, described text not null, step text not null,' +
  ' taken_at timestamptz not null, expires_at timestamptz not null)'

const take =
  'insert into {ns}.migration_lease as l (holder, described, step, taken_at, expires_at)' +
  " values ($1, $2, '', clock_timestamp(), clock_timestamp() + $3 * interval '1 ms')" +
  ' on conflict (id) do update set holder = excluded.holder, described = excluded.described,' +
  ' step = excluded.step, taken_at = excluded.taken_at, expires_at = excluded.expires_at' +
  ' where l.expires_at <= clock_timestamp() returning l.holder'

const renew =
  'update {ns}.migration_lease set step = $2,' +
  " expires_at = clock_timestamp() + $3 * interval '1 ms' where holder = $1"

const describe =
  "select described || case step when '' then '' else ', at ' || step end as text," +
  ' extract(epoch from clock_timestamp() - taken_at)::integer as seconds' +
  ' from {ns}.migration_lease'

interface LeaseSettings {
  readonly schema: string
  /**
   * How long it lasts without being renewed, and so how long the next process waits after this one
   * was killed.
   */
  readonly lastsMs: number
  /** How long to wait for another holder. */
  readonly waitMs: number
  /** Called with the current holder immediately and then periodically. */
  readonly onWaiting: (message: string) => void
}

const pollMs = 200
const repeatMs = 10_000

/**
 * Takes the lease, and waits while another process holds it.
 * @throws {Error} if that takes longer than `waitMs`.
 */
export async function takeLease(client: Client, settings: LeaseSettings): Promise<HeldLease> {
  const { schema, lastsMs, waitMs, onWaiting } = settings
  const holder = randomUUID()
  const own = `${hostname()}, process ${process.pid}`
  const startedAt = performance.now()
  let reportedAt = Number.NEGATIVE_INFINITY
  for (;;) {
    const { rowCount } = await client.query(withSchema(take, schema), [holder, own, lastsMs])
    if (rowCount === 1) return createLease(holder, settings)
    const who = await describeHolder(client, schema)
    const nowMs = performance.now()
    if (who !== undefined && nowMs - startedAt > waitMs) {
      throw new Error(
        `The migrations of the schema "${schema}" are being applied by ${who} and were not completed ` +
          `within ${Math.round(waitMs / 1000)} s. Check that process, or raise ` +
          'AUTH_DB_MIGRATION_WAIT.',
      )
    }
    if (who !== undefined && nowMs - reportedAt > repeatMs) {
      onWaiting(`Waiting for the migrations of the schema "${schema}", applied by ${who}`)
      reportedAt = nowMs
    }
    await sleep(pollMs)
  }
}

/** Undefined if it has just been released. */
async function describeHolder(client: Client, schema: string): Promise<string | undefined> {
  const { rows } = await client.query<{ text: string; seconds: number }>(
    withSchema(describe, schema),
  )
  const [row] = rows
  return row && `${row.text} (for ${row.seconds} s)`
}

interface HeldLease extends Lease {
  release(client: Client): Promise<void>
}

function createLease(holder: string, { schema, lastsMs }: LeaseSettings): HeldLease {
  let step = ''
  return {
    enter(next) {
      step = next
    },
    async renew(client) {
      const values = [holder, step, lastsMs]
      const { rowCount } = await client.query(withSchema(renew, schema), values)
      if (rowCount !== 1) {
        throw new Error(
          `Another process took over the migrations of the schema "${schema}", because this one ` +
            `did not respond for ${Math.round(lastsMs / 1000)} s. Run auth migrate again to see ` +
            'whether any migration is missing.',
        )
      }
    },
    async release(client) {
      const text = 'delete from {ns}.migration_lease where holder = $1'
      await client.query(withSchema(text, schema), [holder])
    },
  }
}
