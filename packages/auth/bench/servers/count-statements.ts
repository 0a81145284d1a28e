import { query, trackStatements } from './database-server.ts'

/** Counts the statements of an operation, including `begin` and `commit`. */
export async function countStatements(
  databaseUrl: string,
  work: () => Promise<void>,
): Promise<number> {
  await query(databaseUrl, 'create extension if not exists pg_stat_statements with schema public')
  await trackStatements(databaseUrl, 'top')
  try {
    await query(databaseUrl, 'select public.pg_stat_statements_reset()')
    await work()
    const [row] = await query<{ calls: number }>(
      databaseUrl,
      `select coalesce(sum(calls), 0)::int as calls from public.pg_stat_statements
       where dbid = (select oid from pg_database where datname = current_database())
         and query not like '%pg_stat_statements%'`,
    )
    return row?.calls ?? 0
  } finally {
    await trackStatements(databaseUrl, 'none')
  }
}
