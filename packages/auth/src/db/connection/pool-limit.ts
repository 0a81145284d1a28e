import type { ClientBase } from 'pg'

export interface PoolShare {
  /** The percentage of the connections of PostgreSQL that all our processes together may use. */
  readonly percentage: number
  readonly fewestProcesses: number
  /** The common prefix of the `application_name` of all our processes. */
  readonly commonName: string
  /** The `application_name` of this process. */
  readonly ownName: string
}

interface ShareRow {
  /** Connections of PostgreSQL that are not reserved. */
  readonly available: number
  /** The connection limit of the role or of the database; null if neither has one. */
  readonly most: number | null
  /** The number of our processes that are connected. */
  readonly processes: number
  /** The number of these processes that use the same role. */
  readonly of_role: number
  /** The number of connections of our other processes. */
  readonly others: number
}

/**
 * Our processes on other databases are counted as well, because PostgreSQL has one limit for all
 * databases.
 */
const readShare = `
  select current_setting('max_connections')::integer
      - current_setting('superuser_reserved_connections')::integer
      - coalesce(current_setting('reserved_connections', true)::integer, 0) as available,
    (select min(most) from (
      select rolconnlimit as most from pg_roles where rolname = current_user
      union all
      select datconnlimit from pg_database where datname = current_database()
    ) limits where most > 0) as most,
    count(distinct application_name)::integer as processes,
    count(distinct application_name) filter (where usename = current_user)::integer as of_role,
    count(*) filter (where application_name <> $2)::integer as others
  from pg_stat_activity where starts_with(application_name, $1)`

/**
 * Returns the maximum number of connections of this process: an equal share per process. Other
 * processes reduce their share at their next update. Until then, a new process gets only the
 * connections that they do not use.
 */
export async function readPoolLimit(
  client: ClientBase,
  { percentage, fewestProcesses, commonName, ownName }: PoolShare,
): Promise<number> {
  const { rows } = await client.query<ShareRow>(readShare, [commonName, ownName])
  const [row] = rows
  if (row === undefined) throw new Error('PostgreSQL did not report its limits')
  const { available, most, others } = row
  const share = Math.floor((available * percentage) / 100)
  const part = Math.floor(share / Math.max(row.processes, fewestProcesses))
  const ofRole = Math.floor((most ?? available) / Math.max(row.of_role, fewestProcesses))
  return Math.max(1, Math.min(part, share - others, ofRole))
}
