/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Client } from 'pg'
import { openDatabase } from '../../src/db/database.ts'
import { readMigrations } from '../../src/db/migrate/files.ts'
import { migrate } from '../../src/db/migrate/migrate.ts'
import { cleanUp } from '../../src/features/server/cleanup.ts'
import { runCommand } from '../support/auth-command.ts'
import { openAuthServer, testEnvironment } from '../support/auth-server.ts'
import { send } from '../support/http-client.ts'
import { toMailEnvironment } from '../support/mail-environment.ts'
import { openMailbox } from '../support/mailbox.ts'
import { mainFlowsEnvironment, runMainFlows } from '../support/main-flows.ts'
import { openOwnDatabase, runIn } from '../support/shared-postgres.ts'

const schema = 'auth'

/** The setup from the manual, with the roles and the database of this test. */
const setUp = (migrator: string, server: string, database: string) => `
  create role ${migrator} login password 'migrates';
  create role ${server} login password 'serves';
  revoke all on database ${database} from public;
  revoke all on schema public from public;
  grant connect on database ${database} to ${migrator}, ${server};
  create extension if not exists pg_trgm with schema pg_catalog;
  create schema ${schema} authorization ${migrator};`

test('one role migrates and owns the tables, and another role serves and owns nothing', async (t) => {
  const postgres = await openOwnDatabase(t)
  if (!postgres) return
  const database = new URL(postgres.url).pathname.slice(1)
  const [migrator, server] = [`migrator_${process.pid}`, `server_${process.pid}`]
  await runIn(postgres.url, setUp(migrator, server, database))
  const toUrl = (user: string, password: string) => {
    const url = new URL(postgres.url)
    url.username = user
    url.password = password
    return url.href
  }
  const [migratorUrl, serverUrl] = [toUrl(migrator, 'migrates'), toUrl(server, 'serves')]
  const env = { ...testEnvironment, AUTH_DB_NAMESPACE: schema, DATABASE_URL: serverUrl }

  await t.test('before there are tables, the serving role gets instructions', async () => {
    const { code, stderr } = await runCommand(['migrate'], { env })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /The database role lacks a privilege \(permission denied.+--print-grants ROLE/,
    )
  })

  const migrated = await runCommand(['migrate'], { env: { ...env, DATABASE_URL: migratorUrl } })
  assert.equal(migrated.code, 0, migrated.stderr)
  const grants = await runCommand(['migrate', '--print-grants', server], {
    env: { ...env, DATABASE_URL: migratorUrl },
  })
  assert.deepEqual([grants.code, grants.stderr], [0, ''])
  await runIn(migratorUrl, grants.stdout)

  await t.test('all server functions work', async (t) => {
    const mailbox = await openMailbox(t)
    const opened = await openAuthServer(t, {
      // The server also runs migrations and finds nothing to do.
      database: { url: serverUrl, schema },
      env: { ...mainFlowsEnvironment, ...toMailEnvironment(mailbox.port) },
    })
    assert.ok(opened)
    await runMainFlows({ ...opened, mailbox })
    const admin = { token: opened.serviceToken }
    const { body: events } = await send(opened.url, '/admin/events', admin)
    const tail = await send(opened.url, `/admin/events?after=${events.latest}`, admin)
    assert.equal(tail.status, 200)
    assert.doesNotMatch(opened.log.join(''), /permission denied/)
    await using db = openDatabase({
      url: serverUrl,
      schema,
      maxPoolSize: 1,
      idleTimeoutMs: 1_000,
      log: { warning() {} },
    })
    const ages = { linkSeconds: 3_600, cooldownMs: 86_400_000, auditMs: 86_400_000 }
    assert.equal((await cleanUp(db, Date.now(), ages)).outcome, 'completed')
  })

  await t.test('the serving role can write a complete backup', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'portcullis-backup-'))
    t.after(() => rm(folder, { recursive: true }))
    const file = join(folder, 'backup.gz')
    const { code, stderr } = await runCommand(['backup', file], { env })
    assert.deepEqual([code, stderr], [0, ''])
    const [header = ''] = gunzipSync(await readFile(file))
      .toString()
      .split('\n')
    assert.notDeepEqual(JSON.parse(header).sequences, [])
  })

  await t.test('the serving role can change neither tables nor migrations', async () => {
    for (const statement of [
      'create table auth.more ()',
      'create table public.more ()',
      'create schema more',
      'alter table auth.users add column more text',
      'truncate auth.users',
      "insert into auth.schema_migrations (version) values ('9999-more')",
      'delete from auth.schema_migrations',
    ]) {
      await assert.rejects(
        runIn(serverUrl, statement),
        /permission denied|must be owner/,
        statement,
      )
    }
  })

  await t.test('the serving role can use the tables of later migrations', async () => {
    const later = { version: '9998-later', text: 'create table {ns}.later (id integer)' }
    const migrations = [...(await readMigrations()), later]
    assert.deepEqual(await migrate({ url: migratorUrl, schema, migrations }), ['9998-later'])
    await runIn(serverUrl, 'insert into auth.later values (1)')
  })

  // Roles are shared by all databases, so they have to be dropped separately.
  await runIn(migratorUrl, 'drop schema auth cascade')
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  await client.query(`drop owned by ${migrator}, ${server}; drop role ${migrator}, ${server}`)
  await client.end()
})
