import { openPostgres, openPostgresEmbedded } from '@portcullis/test-servers'
import { Client } from 'pg'

const databaseServers = { embedded: openPostgresEmbedded, system: openPostgres } as const
export type DatabaseServerName = keyof typeof databaseServers
export const databaseServerNames = Object.keys(databaseServers) as readonly DatabaseServerName[]

export interface DatabaseServer extends AsyncDisposable {
  readonly version: string
  readonly pid: number
  /** Creates an empty database with the schema `auth` and resolves to its URL. */
  createDatabase(name: string): Promise<string>
}

/**
 * The settings are the same for both servers. Commits do not wait for the disk, which would
 * dominate the results; a million users fit into memory. Statements are counted only on request.
 */
const settings = {
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  maintenance_work_mem: '512MB',
  max_connections: '100',
  checkpoint_timeout: '1h',
  shared_preload_libraries: 'pg_stat_statements',
}

/** @param runningUrl of a running PostgreSQL with superuser rights, to use instead of a new one */
export async function openDatabaseServer(
  name: DatabaseServerName,
  runningUrl?: string,
): Promise<DatabaseServer> {
  const server =
    runningUrl === undefined
      ? await databaseServers[name]({ settings })
      : { url: runningUrl, stop: async () => {} }
  const [facts] = await query<{ version: string; pid: number }>(
    server.url,
    `select current_setting('server_version') as version,
       split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid`,
  )
  if (!facts) throw new Error('PostgreSQL did not return its version')
  if (runningUrl === undefined) await trackStatements(server.url, 'none')
  return {
    ...facts,
    async createDatabase(database) {
      await query(server.url, `drop database if exists ${database}`)
      await query(server.url, `create database ${database}`)
      const url = new URL(server.url)
      url.pathname = `/${database}`
      await query(url.href, 'create schema auth')
      await query(url.href, `alter database ${database} set search_path to auth, public`)
      return url.href
    },
    [Symbol.asyncDispose]: () => server.stop(),
  }
}

/** The setting is not a command line flag, because flags cannot be changed afterwards. */
export async function trackStatements(url: string, which: 'top' | 'none'): Promise<void> {
  await query(url, `alter system set pg_stat_statements.track = '${which}'`)
  await query(url, 'select pg_reload_conf()')
  // Open connections apply the setting a moment later.
  await query(url, 'select pg_sleep(0.3)')
}

export async function query<Row = unknown>(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(text, [...values])
    return rows
  } finally {
    await client.end()
  }
}
