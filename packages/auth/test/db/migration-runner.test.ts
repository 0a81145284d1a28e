/**
 * @servers postgres, pgbouncer
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { Client } from 'pg'
import type { Migration } from '../../src/db/migrate/files.ts'
import { type MigrationSettings, migrate } from '../../src/db/migrate/migrate.ts'
import { waitUntil } from '../support/embedded-place.ts'
import { openOwnDatabase } from '../support/shared-postgres.ts'

const schema = 'auth'
const rowCount = 50_000

const base: Migration = {
  version: '0001-base',
  text: `create table {ns}.things (id bigint generated always as identity, name text);
    insert into {ns}.things (name) select 'thing ' || n from generate_series(1, ${rowCount}) n;`,
}
const index: Migration = {
  version: '0002-index',
  text: `-- concurrently
-- A comment; it may end with a semicolon;
create index concurrently if not exists things_name on {ns}.things (name);
create index concurrently if not exists things_length
  on {ns}.things (length(name));
`,
}
const column: Migration = {
  version: '0003-column',
  text: 'alter table {ns}.things add column size integer;',
}

async function connect(t: TestContext, url: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: 'other client' })
  // The database is dropped before the client is closed.
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  return client
}

interface Run {
  readonly messages: readonly string[]
  readonly ended: Promise<readonly string[]>
}

/** Starts migrations in the background and collects their progress messages. */
function start(settings: Omit<MigrationSettings, 'schema' | 'onProgress'>): Run {
  const messages: string[] = []
  const ended = migrate({
    schema,
    reportEveryMs: 100,
    ...settings,
    onProgress: (message) => messages.push(message),
  })
  // A failure is reported when the promise is awaited later.
  ended.catch(() => {})
  return { messages, ended }
}

const untilLogged = (run: Run, pattern: RegExp) =>
  waitUntil(`${pattern} in ${JSON.stringify(run.messages)}`, () =>
    run.messages.some((message) => pattern.test(message)),
  )

/** Inserts rows until it is stopped. */
function startWriter(client: Client) {
  let written = 0
  let isStopping = false
  const run = async () => {
    while (!isStopping) {
      await client.query("insert into auth.things (name) values ('written meanwhile')")
      written += 1
    }
  }
  const ended = run()
  return {
    /** Resolves after this many more rows were inserted. */
    async writes(count: number) {
      const goal = written + count
      await waitUntil(`${count} more writes`, () => written >= goal)
    },
    async stop() {
      isStopping = true
      await ended
      return written
    },
  }
}

const readIndexes = async (client: Client) => {
  const { rows } = await client.query(
    `select c.relname as name, i.indisvalid as "isValid" from pg_index i
     join pg_class c on c.oid = i.indexrelid where i.indrelid = 'auth.things'::regclass order by 1`,
  )
  return rows
}

const allIndexes = [
  { name: 'things_length', isValid: true },
  { name: 'things_name', isValid: true },
]

test('indexes are built during writes, and waiting for old transactions blocks no other client', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const { url } = postgres
  const [old, writing, looking] = await Promise.all([1, 2, 3].map(() => connect(t, url)))
  assert.ok(old && writing && looking)
  await migrate({ url, schema, migrations: [base] })
  await old.query('begin')
  await old.query("insert into auth.things (name) values ('not committed yet')")
  const writer = startWriter(writing)
  const first = start({ url, migrations: [base, index] })
  await untilLogged(first, /^Migration 0002-index builds the index things_name on things: waiting/)
  await writer.writes(50)

  // Another migrating process waits as well, reports what it waits for, and blocks no one.
  const second = start({ url, migrations: [base, index] })
  await untilLogged(
    second,
    new RegExp(`applied by .+, process ${process.pid}, at 0002-index \\(for \\d+ s`),
  )
  // Other databases on the same server belong to other tests.
  await waitUntil('no lock and no transaction is held while they wait', async () => {
    const { rows } = await looking.query(
      `select from pg_locks l join pg_database d on d.oid = l.database
       where l.locktype = 'advisory' and d.datname = current_database()
       union all select from pg_stat_activity
       where application_name like 'portcullis-auth migrate%' and datname = current_database()
         and state like 'idle in transaction%'`,
    )
    return rows.length === 0
  })
  await writer.writes(50)

  await old.query('commit')
  assert.deepEqual(await first.ended, ['0002-index'])
  assert.deepEqual(await second.ended, [])
  const written = await writer.stop()
  assert.deepEqual(await readIndexes(looking), allIndexes)
  const { rows } = await looking.query('select count(*)::integer as count from auth.things')
  assert.equal(rows[0]?.count, rowCount + 1 + written)
})

test('an index that a failed attempt left incomplete is built again', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const { url } = postgres
  const client = await connect(t, url)
  await migrate({ url, schema, migrations: [base] })
  await client.query("insert into auth.things (name) values ('thing 1')")
  const unique: Migration = {
    version: '0002-unique',
    text: '-- concurrently\ncreate unique index concurrently if not exists once on {ns}.things (name);',
  }
  const migrations = [base, unique]
  await assert.rejects(start({ url, migrations }).ended, /could not create unique index "once"/)
  assert.deepEqual(await readIndexes(client), [{ name: 'once', isValid: false }])
  await client.query("delete from auth.things where id > $1 and name = 'thing 1'", [rowCount])
  const again = start({ url, migrations })
  assert.deepEqual(await again.ended, ['0002-unique'])
  assert.equal(
    again.messages[0],
    'Removing the index once, which an earlier attempt left incomplete',
  )
  assert.deepEqual(await readIndexes(client), [{ name: 'once', isValid: true }])
})

test('a migration waits for an index that the backend of a killed run is still building', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const { url } = postgres
  const [old, building, looking] = await Promise.all([1, 2, 3].map(() => connect(t, url)))
  assert.ok(old && building && looking)
  await migrate({ url, schema, migrations: [base] })
  await old.query('begin')
  await old.query("insert into auth.things (name) values ('not committed yet')")
  const built = building.query('create index concurrently things_name on auth.things (name)')
  await waitUntil('the index is being built', async () => (await readIndexes(looking)).length > 0)
  const run = start({ url, migrations: [base, index] })
  await untilLogged(
    run,
    /^Waiting for the index things_name, which another connection is building$/,
  )
  await old.query('commit')
  await built
  assert.deepEqual(await run.ended, ['0002-index'])
  assert.deepEqual(await readIndexes(looking), allIndexes)
})

test('a new database is created without waiting for other transactions', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const { url } = postgres
  const old = await connect(t, url)
  await old.query('begin isolation level repeatable read')
  await old.query('create table elsewhere ()')
  const versions = await migrate({ url, schema, migrations: [base, index, column] })
  assert.deepEqual(versions, ['0001-base', '0002-index', '0003-column'])
  await old.query('rollback')
  assert.deepEqual(await readIndexes(old), allIndexes)
})

test('a migration that waits for a lock does not block others, reports the holder, and retries', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const { url } = postgres
  const [holding, writing] = await Promise.all([1, 2].map(() => connect(t, url)))
  assert.ok(holding && writing)
  await migrate({ url, schema, migrations: [base] })
  await holding.query('begin')
  await holding.query('select from auth.things limit 1')
  const { rows } = await holding.query('select pg_backend_pid() as pid')
  const migrations = [base, column]

  await assert.rejects(
    start({ url, migrations, lockTimeoutMs: 10, waitMs: 0 }).ended,
    /Migration 0003-column could not acquire its lock within 0 s.*\. End the transaction that holds it/,
  )
  const run = start({ url, migrations, lockTimeoutMs: 1_000 })
  const who = `process ${rows[0]?.pid} \\(other client, idle in transaction, for \\d+ s\\)`
  await untilLogged(run, new RegExp(`^Migration 0003-column waits for ${who}, \\d+ s so far$`))
  await untilLogged(
    run,
    new RegExp(`could not acquire its lock \\(attempt \\d+, held by ${who}\\): retrying`),
  )
  const writer = startWriter(writing)
  await writer.writes(20)
  await untilLogged(run, /\(attempt 2/)
  await writer.writes(20)
  await holding.query('commit')
  assert.deepEqual(await run.ended, ['0003-column'])
  await writer.stop()
})

test('neither the lock of an earlier release nor a reader of its table blocks others', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const { url } = postgres
  const [reading, other] = await Promise.all([1, 2].map(() => connect(t, url)))
  assert.ok(reading && other)
  // The lock stays in a pooled connection.
  await other.query('select pg_advisory_lock(7236481930)')
  await other.query(
    `create schema auth; create table auth.schema_migrations
       (version text primary key, applied_at timestamptz not null default now())`,
  )
  await reading.query('begin')
  await reading.query('select from auth.schema_migrations')
  await assert.rejects(
    start({ url, migrations: [base], lockTimeoutMs: 10, waitMs: 0 }).ended,
    /has kept the table schema_migrations of the schema "auth" locked/,
  )
  const run = start({ url, migrations: [base], lockTimeoutMs: 10 })
  await untilLogged(
    run,
    /^Waiting for another connection that has locked the table schema_migrations/,
  )
  await other.query('select from auth.schema_migrations')
  await reading.query('commit')
  assert.deepEqual(await run.ended, ['0001-base'])
})

test('migrations work through a pooler in transaction mode and leave no locks behind', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const settings = { pool_mode: 'transaction', default_pool_size: '2' }
  const pooler = await open(t, 'pgbouncer', { upstream: postgres.url, settings })
  if (!pooler) return
  const { url } = pooler
  await migrate({ url, schema, migrations: [base] })
  const migrations = [base, index, column]
  const runs = [1, 2, 3].map(() => start({ url, migrations }))
  const applied = await Promise.all(runs.map(({ ended }) => ended))
  assert.deepEqual(applied.flat(), ['0002-index', '0003-column'])
  const client = await connect(t, postgres.url)
  const { rows } = await client.query(
    `select from pg_locks where locktype = 'advisory' and database =
       (select oid from pg_database where datname = current_database())`,
  )
  assert.deepEqual(rows, [])
  assert.deepEqual(await readIndexes(client), allIndexes)
})

test('a statement timeout of the role does not end a migration', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const { url } = postgres
  const client = await connect(t, url)
  const { rows } = await client.query('select current_database() as name')
  await client.query(`alter database ${rows[0]?.name} set statement_timeout = '4s'`)
  const slow = { version: '0002-slow', text: 'select pg_sleep(4.5)' }
  const versions = await migrate({ url, schema, migrations: [base, slow] })
  assert.deepEqual(versions, ['0001-base', '0002-slow'])
  // The timeout cannot be lifted for statements outside a transaction.
  const old = await connect(t, url)
  await old.query(
    "begin; set local statement_timeout = 0; insert into auth.things values (default, 'x')",
  )
  await assert.rejects(
    migrate({ url, schema, migrations: [base, slow, index] }),
    /Migration 0002-index was cancelled \(.+statement timeout\).+set statement_timeout = 0 for the role/,
  )
  await old.query('commit')
})

test('the lease', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const { url } = postgres
  const client = await connect(t, url)
  await migrate({ url, schema, migrations: [base] })
  const slow = { version: '0002-slow', text: '' }
  const holdFor = (interval: string) =>
    client.query(
      `insert into auth.migration_lease (holder, described, step, taken_at, expires_at)
       values (gen_random_uuid(), 'another.host, process 4711', '0003-column', now(),
         clock_timestamp() + $1::interval)`,
      [interval],
    )

  await t.test('is not taken if there is nothing to migrate', async () => {
    await holdFor('1 hour')
    assert.deepEqual(await migrate({ url, schema, migrations: [base] }), [])
  })

  await t.test('of a running process is awaited, and the error names the process', async () => {
    await assert.rejects(
      migrate({ url, schema, migrations: [base, column], waitMs: 0 }),
      /are being applied by another\.host, process 4711, at 0003-column \(for \d+ s\).+AUTH_DB_MIGRATION_WAIT/,
    )
    await client.query('delete from auth.migration_lease')
  })

  await t.test('is renewed while a migration takes longer than the lease', async () => {
    // The loop ends when another connection has renewed the lease.
    const text = `do $$ begin
      for n in 1..1200 loop
        exit when (select expires_at from {ns}.migration_lease) > now() + interval '600 ms';
        perform pg_sleep(0.1);
      end loop;
    end $$`
    slow.text = text
    assert.deepEqual(await migrate({ url, schema, migrations: [base, slow], leaseMs: 400 }), [
      '0002-slow',
    ])
  })

  await t.test('of a killed process expires', async () => {
    await holdFor('1 second')
    const run = start({ url, migrations: [base, slow, column] })
    await untilLogged(
      run,
      /^Waiting for the migrations of the schema "auth", applied by another\.host/,
    )
    assert.deepEqual(await run.ended, ['0003-column'])
    assert.equal((await client.query('select from auth.migration_lease')).rowCount, 0)
  })

  await t.test(
    'that was taken over by another process prevents the commit of a migration',
    async () => {
      const text =
        'create table {ns}.unseen (); update {ns}.migration_lease set holder = gen_random_uuid()'
      const robbed = { version: '0004-robbed', text }
      await assert.rejects(
        migrate({ url, schema, migrations: [base, slow, column, robbed] }),
        /Another process took over the migrations/,
      )
      const { rows } = await client.query("select to_regclass('auth.unseen') as found")
      assert.deepEqual(rows, [{ found: null }])
    },
  )
})
