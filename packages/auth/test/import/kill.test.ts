/**
 * @legs safety, endurance
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import process from 'node:process'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { programEnvironment } from '@portcullis/test-servers'
import { enduranceOr } from '@portcullis/test-servers/endurance'
import { Client } from 'pg'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { runCommand } from '../support/auth-command.ts'
import { packageFolder } from '../support/auth-program.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'
import { fillSource } from '../support/supabase-source/fill-source.ts'
import { openSource, toCommandEnvironment } from '../support/supabase-source/open-source.ts'

const moments = enduranceOr(20, 6)
const userCount = enduranceOr(2_000, 600)
const batchRows = 100

/** Counts and checksums of everything that was imported, without the times of the import. */
const contents = `
  select name, count::integer as count, sum from (select 'users' as name, count(*) as count, md5(string_agg(t::text, '|' order by id)) as sum
    from users t
  union all select 'identities', count(*), md5(string_agg(t::text, '|' order by id)) from identities t
  union all select 'sessions', count(*), md5(string_agg(t::text, '|' order by id)) from sessions t
  union all select 'tokens', count(*), md5(string_agg(t::text, '|' order by token_hash))
    from imported_refresh_tokens t
  union all select 'bookkeeping', count(*), md5(string_agg(t::text, '|' order by table_name, id))
    from imported_rows t
  union all select 'counted users', coalesce(sum(c.count), 0), '' from user_counts c
  ) c order by 1`

/**
 * Inconsistencies that must not exist after a kill: rows that `imported_rows` lacks, and incomplete
 * rows.
 */
const inconsistencies = `
  select 'user without bookkeeping' as flaw, count(*)::integer as count from users t
    where not exists (select from imported_rows r where r.table_name = 'users' and r.id = t.id)
  union all select 'bookkeeping without user', count(*) from imported_rows r
    where r.table_name = 'users' and not exists (select from users t where t.id = r.id)
  union all select 'session without tokens', count(*) from sessions s
    where (select count(*) from imported_refresh_tokens t where t.session_id = s.id) <> 2`

async function connect(t: TestContext, url: string, schema: string): Promise<Client> {
  const client = new Client({ connectionString: url, options: `-c search_path=${schema}` })
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  return client
}

test('when an import is killed at any moment, the next one completes it', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const { url } = postgres
  const source = await openSource(t, url, '2.196')
  await source.client.query(fillSource(userCount))
  const open = async (schema: string) => {
    await migrate({ url, schema })
    const client = await connect(t, url, schema)
    return { client, schema, env: toCommandEnvironment({ databaseUrl: url, schema }) }
  }
  type Target = Awaited<ReturnType<typeof open>>
  const complete = async ({ client, env }: Target) => {
    const { code, stdout, stderr } = await runCommand(
      ['import', '--from', source.url, '--batch-rows', `${batchRows}`],
      { env },
    )
    assert.equal(code, 0, stderr + stdout)
    return (await client.query(contents)).rows
  }
  const start = (env: Readonly<Record<string, string>>) => {
    const main = join(packageFolder, 'src/main.ts')
    return spawn(
      process.execPath,
      [main, 'import', '--from', source.url, '--batch-rows', `${batchRows}`],
      {
        cwd: '/',
        env: { ...programEnvironment, ...env },
        stdio: 'ignore',
      },
    )
  }

  const expected = await complete(await open(`import_reference_${process.pid}`))
  const countOf = (what: string) => expected.find(({ name }) => name === what)?.count
  assert.deepEqual([countOf('users'), countOf('counted users')], [userCount, userCount])
  const total = countOf('bookkeeping')
  assert.equal(total, 3 * userCount)

  let interrupted = 0
  for (let moment = 1; moment <= moments; moment += 1) {
    await t.test(`killed after ${moment}/${moments + 1} of the rows`, async () => {
      const target = await open(`import_killed_${process.pid}_${moment}`)
      const count = async () => {
        const { rows } = await target.client.query(
          'select count(*)::integer as count from imported_rows',
        )
        return rows[0].count as number
      }
      const child = start(target.env)
      const closed = once(child, 'close')
      while (child.exitCode === null && (await count()) < (total * moment) / (moments + 1)) {
        await sleep(3)
      }
      // A random delay, so that each kill interrupts the next batch at a different point.
      await sleep(Math.random() * 20)
      child.kill('SIGKILL')
      await closed
      const { rows } = await target.client.query<{ flaw: string; count: number }>(inconsistencies)
      for (const { flaw, count } of rows) assert.equal(count, 0, flaw)
      const imported = await count()
      if (imported > 0 && imported < total) interrupted += 1
      assert.deepEqual(await complete(target), expected)
      await target.client.query(`drop schema ${target.schema} cascade`)
    })
  }
  assert.ok(interrupted > 0, 'no kill happened during an import')
})
