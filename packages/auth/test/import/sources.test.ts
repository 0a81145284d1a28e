/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeFolder } from '../support/embedded-place.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { runIn } from '../support/shared-postgres.ts'
import {
  openSource,
  sourceEnvironment,
  toSourceUrl,
} from '../support/supabase-source/open-source.ts'
import { runReport } from '../support/supabase-source/run-report.ts'

/** Opens a server and two sources in the same database. */
async function open(t: TestContext) {
  const server = await openFlowServer(t, sourceEnvironment)
  if (!server) return undefined
  const [one, other] = [
    await openSource(t, server.databaseUrl, '2.196'),
    await openSource(t, server.databaseUrl, '2.196'),
  ]
  const importFrom = (source: { readonly url: string }, ...args: readonly string[]) =>
    runReport(server, 'import', '--from', source.url, ...args)
  const listEmails = async () =>
    (await server.query('select email from users order by 1')).map(({ email }) => email)
  return { server, one, other, importFrom, listEmails }
}

test('an import does not remove the users of another source or of a file', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, one, other, importFrom, listEmails } = opened
  await one.writer.user({ email: 'one@source.example' })
  const id = await other.writer.user({ email: 'other@source.example' })
  const file = join(await makeFolder(t), 'users.jsonl')
  await writeFile(file, '{"email":"file@source.example"}\n')
  const everybody = ['file@source.example', 'one@source.example', 'other@source.example']
  await runReport(server, 'import', '--jsonl', file)
  for (const source of [one, other, one, other]) {
    const { tableOf } = await importFrom(source)
    assert.equal(tableOf('users').removed, 0)
  }
  assert.deepEqual(await listEmails(), everybody)

  await writeFile(file, '{"email":"second-file@source.example"}\n')
  await runReport(server, 'import', '--jsonl', file)
  await other.client.query('delete from users where id = $1', [id])
  const { tableOf } = await importFrom(other, '--accept-removals')
  assert.equal(tableOf('users').removed, 1)
  assert.deepEqual(await listEmails(), [
    'file@source.example',
    'one@source.example',
    'second-file@source.example',
  ])
})

test('a source is recognised when its address is written differently', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, one, importFrom, listEmails } = opened
  await one.writer.user({ email: 'kept@source.example' })
  await one.writer.user({ email: 'deleted@source.example' })
  await importFrom(one)
  await one.client.query(`delete from users where email = 'deleted@source.example'`)
  const url = new URL(server.databaseUrl)
  assert.equal(url.hostname, '127.0.0.1')
  url.hostname = 'localhost'
  const renamed = { url: toSourceUrl(url.href, one.schema) }
  const { tableOf } = await importFrom(renamed, '--accept-removals')
  assert.equal(tableOf('users').removed, 1)
  assert.deepEqual(await listEmails(), ['kept@source.example'])
})

test('without the privilege to read the system identifier, the address identifies a source', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, one: source, importFrom, listEmails } = opened
  const role = `reader_${randomUUID().slice(0, 8)}`
  await source.client.query(`
    revoke execute on function pg_control_system() from public;
    create role ${role} login password 'reader';
    grant usage on schema ${source.schema} to ${role};
    grant select on all tables in schema ${source.schema} to ${role}`)
  t.after(async () => {
    await runIn(
      server.databaseUrl,
      `drop owned by ${role}; drop role ${role};
       grant execute on function pg_control_system() to public`,
    )
  })
  const url = new URL(server.databaseUrl)
  url.username = role
  url.password = 'reader'
  const from = { url: toSourceUrl(url.href, source.schema) }
  await source.writer.user({ email: 'kept@source.example' })
  await source.writer.user({ email: 'deleted@source.example' })
  await importFrom(from)
  const [{ stored }] = await server.query('select source as stored from imported_rows limit 1')
  assert.deepEqual(JSON.parse(stored), {
    server: url.host,
    database: url.pathname.slice(1),
    schema: source.schema,
  })
  await source.client.query(`delete from users where email = 'deleted@source.example'`)
  await importFrom(from, '--accept-removals')
  assert.deepEqual(await listEmails(), ['kept@source.example'])
})

test('rows without a source are kept until a source that has them claims them', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, one, other, importFrom, listEmails } = opened
  const emails = ['first@source.example', 'second@source.example', 'third@source.example']
  for (const email of emails) await one.writer.user({ email })
  await importFrom(one)
  // Rows that were imported before the migration.
  await server.query('update imported_rows set source = null')
  await other.writer.user({ email: 'other@source.example' })
  const unrelated = await importFrom(other)
  assert.match(
    unrelated.stderr,
    /users: 3 rows were imported by an earlier release.+Such rows are kept/,
  )
  assert.deepEqual(await listEmails(), [
    'first@source.example',
    'other@source.example',
    ...emails.slice(1),
  ])

  await one.client.query(`delete from users where email like 'first@%'`)
  // With --since, unchanged rows are not read, but claimed.
  const claiming = await importFrom(one, '--since', '2099-01-01T00:00:00Z')
  assert.match(
    claiming.stderr,
    /users: 1 row was imported by an earlier release.+Such rows are kept/,
  )
  assert.equal(claiming.tableOf('users').removed, 0)
  await one.client.query(`delete from users where email like 'second@%'`)
  const { tableOf } = await importFrom(one, '--accept-removals')
  assert.equal(tableOf('users').removed, 1)
  assert.deepEqual(await listEmails(), [
    'first@source.example',
    'other@source.example',
    'third@source.example',
  ])
})

test('a user who is in two sources is imported from the first, with nothing from the second', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, one, other, importFrom, listEmails } = opened
  const id = await one.writer.user({ email: 'one@source.example' })
  await one.writer.user({ email: 'same@source.example' })
  await other.writer.user({ id, email: 'other@source.example' })
  const sameAddress = await other.writer.user({ email: 'same@source.example' })
  const sessionId = await other.writer.session(id)
  await other.writer.storedTokens(id, sessionId, 1)
  await importFrom(one)
  for (let run = 1; run <= 2; run += 1) {
    const { tableOf } = await importFrom(other)
    const { added, updated, skipped } = tableOf('users')
    assert.deepEqual([added, updated], [0, 0])
    assert.deepEqual(skipped['other source'].examples, [id])
    assert.equal(
      skipped['other source'].reason,
      'a row with this ID was imported from another source',
    )
    assert.deepEqual(skipped['email taken'].examples, [sameAddress])
    assert.deepEqual(tableOf('sessions').skipped['no user'].examples, [sessionId])
  }
  assert.deepEqual(await listEmails(), ['one@source.example', 'same@source.example'])
  assert.deepEqual(await server.query('select 1 from sessions'), [])
})
