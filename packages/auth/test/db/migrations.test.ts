/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { Client } from 'pg'
import {
  isConcurrent,
  readMigrations,
  splitStatements,
  toTransactional,
} from '../../src/db/migrate/files.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { withSchema } from '../../src/db/statement.ts'
import { openAuthServer } from '../support/auth-server.ts'
import { addEarlierRows, earlier } from '../support/earlier-data.ts'
import { password, send } from '../support/http-client.ts'
import { toMailEnvironment } from '../support/mail-environment.ts'
import { type Mailbox, openMailbox } from '../support/mailbox.ts'
import { passkeyEnvironment } from '../support/passkeys.ts'
import { phoneEnvironment } from '../support/phone-server.ts'
import { openSharedPostgres } from '../support/shared-postgres.ts'

/** Tables that are maintained by triggers or by the migrations. */
const ownTables: ReadonlySet<string> = new Set([
  'schema_migrations',
  'migration_lease',
  'user_counts',
])

async function openClient(t: TestContext, url: string, schema: string): Promise<Client> {
  const client = new Client({ connectionString: url, options: `-c search_path=${schema},public` })
  await client.connect()
  t.after(() => client.end())
  return client
}

/** Builds a database as it was after the first `count` migrations, with rows. */
async function buildEarlier(client: Client, schema: string, count: number): Promise<void> {
  await client.query(withSchema('create schema {ns}', schema))
  await client.query(
    'create table schema_migrations' +
      ' (version text primary key, applied_at timestamptz not null default now())',
  )
  for (const { version, text } of (await readMigrations()).slice(0, count)) {
    await client.query(withSchema(toTransactional(text), schema))
    await client.query('insert into schema_migrations (version) values ($1)', [version])
    await addEarlierRows(client, version)
  }
}

type Rows = readonly Readonly<Record<string, unknown>>[]

async function readAll(client: Client, schema: string): Promise<ReadonlyMap<string, Rows>> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = $1 and table_type = 'BASE TABLE'`,
    [schema],
  )
  const all = new Map<string, Rows>()
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ${name} t order by to_jsonb(t)::text`,
    )
    all.set(
      name,
      rows.map(({ row }) => row),
    )
  }
  return all
}

/** Checks that no rows or values were lost; there may be new ones. */
function assertKept(before: ReadonlyMap<string, Rows>, after: ReadonlyMap<string, Rows>): void {
  for (const [table, rows] of before) {
    const names = Object.keys(rows[0] ?? {})
    const kept = (after.get(table) ?? []).map((row) =>
      Object.fromEntries(names.map((name) => [name, row[name]])),
    )
    for (const row of rows) {
      assert.ok(
        kept.some((one) => isDeepStrictEqual(one, row)),
        `${table} has lost ${JSON.stringify(row)}`,
      )
    }
  }
}

interface Place {
  readonly url: string
  readonly schema: string
}

/** Checks that existing users can use their data and that new users can sign up. */
async function assertServes(t: TestContext, database: Place, mailbox: Mailbox, versions: number) {
  const server = await openAuthServer(t, {
    database,
    env: {
      ...phoneEnvironment,
      ...passkeyEnvironment,
      ...toMailEnvironment(mailbox.port),
      AUTH_JWT_AUD: 'authenticated',
      AUTH_MAILER_AUTOCONFIRM: 'false',
      AUTH_SITE_URL: 'https://app.example.com',
    },
  })
  assert.ok(server)
  const { url, serviceToken: token } = server
  const { ada, ben } = earlier
  const post = (path: string, body: unknown) => send(url, path, { body })
  const has = (version: number) => versions >= version

  const login = await post('/token?grant_type=password', { email: ada.email, password })
  assert.equal(login.status, 200, JSON.stringify(login.body))
  const refreshed = await post('/token?grant_type=refresh_token', {
    refresh_token: earlier.refreshToken,
  })
  assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body))
  const exchanged = await post('/token?grant_type=pkce', {
    auth_code: earlier.authCode,
    code_verifier: earlier.codeVerifier,
  })
  assert.equal(exchanged.status, 200, JSON.stringify(exchanged.body))
  assert.equal(exchanged.body.user.id, ada.id)

  const mail = await mailbox.readNext(ben.email)
  const confirmed = await post('/verify', { type: 'signup', token_hash: mail.tokenHash })
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  assert.equal(confirmed.body.user.id, ben.id)

  const own = await send(url, '/user', { token: refreshed.body.access_token })
  assert.equal(own.body.user_metadata.full_name, 'Ada Lovelace')
  assert.deepEqual(
    (own.body.factors ?? []).map(({ id }: { id: string }) => id),
    has(4) ? [earlier.factorId] : [],
  )
  const keys = await send(url, `/admin/users/${ada.id}/passkeys`, { token })
  assert.deepEqual(
    keys.body.map(({ id }: { id: string }) => id),
    has(7) ? [earlier.passkeyId] : [],
  )

  assert.equal((await post('/otp', { email: 'cleo@later.example' })).status, 200)
  const list = await send(url, '/admin/users?filter=lovelace', { token })
  assert.deepEqual(
    list.body.users.map(({ id }: { id: string }) => id),
    [ada.id],
  )
  const allUsers = await send(url, '/admin/users', { token })
  assert.equal(allUsers.headers.get('x-total-count'), '3')
  const { body: audit } = await send(url, '/admin/audit', { token })
  assert.ok(JSON.stringify(audit).includes('00000000-0000-4000-8000-0000000000a7'))
}

/** The last migration of the previous release. */
const lastReleased = '0015-code-attempts'

test('a database of any earlier version', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const { url } = postgres
  const all = (await readMigrations()).map(({ version }) => version)

  for (const [at, version] of all.entries()) {
    // Migrations between releases never existed separately, because they ship together.
    if (version > lastReleased && at < all.length - 1) continue
    await t.test(`at ${version} is migrated and keeps its data`, async (t) => {
      const schema = `earlier_${process.pid}_${at}`
      const client = await openClient(t, url, schema)
      await buildEarlier(client, schema, at + 1)
      const before = await readAll(client, schema)
      const empty = [...before].filter(([name, { length }]) => length === 0 && !ownTables.has(name))
      assert.deepEqual(
        empty.map(([name]) => name),
        [],
        'These tables have no rows in test/support/earlier-data.ts',
      )
      assert.deepEqual(await migrate({ url, schema }), all.slice(at + 1))
      assertKept(before, await readAll(client, schema))
      assert.deepEqual(await migrate({ url, schema }), [])
      const mailbox = await openMailbox(t)
      await assertServes(t, { url, schema }, mailbox, Number.parseInt(version, 10))
    })
  }
})

test('migrating step by step gives the same schema as creating a new database', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const { url } = postgres
  const readShape = async (schema: string) => {
    const client = await openClient(t, url, schema)
    const { rows } = await client.query(
      `select table_name, column_name, data_type, is_nullable, column_default
       from information_schema.columns where table_schema = $1 order by 1, 2`,
      [schema],
    )
    const indexes = await client.query(
      `select replace(indexdef, $1, '') as text from pg_indexes where schemaname = $1 order by 1`,
      [schema],
    )
    return [...rows, ...indexes.rows]
  }
  const [whole, stepped] = [`whole_${process.pid}`, `stepped_${process.pid}`]
  await migrate({ url, schema: whole })
  const client = await openClient(t, url, stepped)
  await buildEarlier(client, stepped, 1)
  await migrate({ url, schema: stepped })
  assert.deepEqual(await readShape(stepped), await readShape(whole))
})

test('a failed migration changes nothing and works once the cause is fixed', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const { url } = postgres
  const schema = `failing_${process.pid}`
  const client = await openClient(t, url, schema)
  await buildEarlier(client, schema, 3)
  // This table conflicts with migration 0004.
  await client.query('create table mfa_challenges (id uuid primary key)')
  const readOurs = async () =>
    [...(await readAll(client, schema))].filter(([name]) => !/migration/.test(name))
  const before = await readOurs()
  await assert.rejects(migrate({ url, schema }), /mfa_challenges/)
  assert.deepEqual(await readOurs(), before)
  await client.query('drop table mfa_challenges')
  assert.equal((await migrate({ url, schema }))[0], '0004-factors')
})

test('statements outside a transaction can be repeated', async () => {
  const repeatable =
    /^(?:create (?:unique )?index concurrently if not exists|drop index concurrently if exists|alter table \S+ validate constraint)\s/
  for (const migration of (await readMigrations()).filter(isConcurrent)) {
    for (const statement of splitStatements(migration.text)) {
      assert.match(statement.replaceAll(/\s+/g, ' '), repeatable, migration.version)
    }
  }
})
