/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { runCommand } from '../support/auth-command.ts'
import { errorOf, openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import {
  openSource,
  sourceEnvironment,
  toCommandEnvironment,
} from '../support/supabase-source/open-source.ts'
import { sourcePassword } from '../support/supabase-source/people.ts'
import { runReport } from '../support/supabase-source/run-report.ts'

/** Opens a server, and a source with users that can be imported repeatedly. */
async function open(t: TestContext) {
  const server = await openFlowServer(t, sourceEnvironment)
  if (!server) return undefined
  const source = await openSource(t, server.databaseUrl, '2.196')
  const people = await source.addPeople()
  const run = (...args: readonly string[]) =>
    runCommand(['import', '--from', source.url, ...args], { env: toCommandEnvironment(server) })
  const importRows = (...args: readonly string[]) =>
    runReport(server, 'import', '--from', source.url, ...args)
  const change = (text: string, values: readonly unknown[] = []) =>
    source.client.query(text, [...values])
  return { server, source, people, run, importRows, change }
}

const refresh = (url: string, refresh_token: string | undefined) =>
  send(url, '/token?grant_type=refresh_token', { body: { refresh_token } })

async function readAll(databaseUrl: string, schema: string) {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select table_name as name from information_schema.tables
       where table_schema = $1 and table_type = 'BASE TABLE' order by 1`,
      [schema],
    )
    const all: Record<string, unknown> = {}
    for (const { name } of rows) {
      // The server writes these in the background.
      if (['migration_lease', 'sign_in_counts'].includes(name)) continue
      const { rows: found } = await client.query(
        `select t::text from ${schema}.${name} t order by 1`,
      )
      all[name] = found
    }
    return all
  } finally {
    await client.end()
  }
}

test('a second run changes nothing', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, importRows } = opened
  const first = await importRows()
  const before = await readAll(server.databaseUrl, server.schema)
  const second = await importRows()
  for (const { table } of first.report.tables) {
    const [was, is] = [first.tableOf(table), second.tableOf(table)]
    assert.deepEqual([is.added, is.updated, is.removed], [0, 0, 0], table)
    assert.equal(is.unchanged, was.added, table)
  }
  const { imports: _was, ...others } = before
  const { imports: _is, ...now } = await readAll(server.databaseUrl, server.schema)
  assert.deepEqual(now, others)
})

for (const mode of ['all rows', 'changed rows'] as const) {
  test(`a second run that reads ${mode} applies the changes of the source`, async (t) => {
    const opened = await open(t)
    if (!opened) return
    const { server, source, people, importRows, change } = opened
    const { ada, pat, cleo, fred } = people
    const first = await importRows()
    await change(
      `update users set raw_user_meta_data = '{"n": 2}', updated_at = now() where id = $1`,
      [cleo.id],
    )
    // The client refreshed its session at the source.
    await change('update refresh_tokens set revoked = true, updated_at = now() where token = $1', [
      ada.tokens[2],
    ])
    await source.writer.insert('refresh_tokens', {
      token: 'aaaabbbbcccc',
      user_id: ada.id,
      session_id: ada.sessionId,
      parent: ada.tokens[2],
      revoked: false,
      created_at: new Date(),
      updated_at: new Date(),
    })
    // Another user signed out, and a third one was deleted.
    await change('delete from sessions where id = $1', [pat.sessionId])
    await change('delete from users where id = $1', [fred.id])
    const newId = await source.writer.user({
      email: 'new@source.example',
      updated_at: new Date(),
    })

    const since = mode === 'all rows' ? [] : ['--since', first.report.snapshotAt]
    const { tableOf } = await importRows(...since)
    const { added, updated, removed } = tableOf('users')
    assert.deepEqual([added, updated, removed], [1, 1, 1])
    assert.equal(tableOf('users').unchanged === 0, mode === 'changed rows')
    const rows = await server.query('select id, raw_user_meta_data as data from users')
    const byId = new Map(rows.map(({ id, data }) => [id, data]))
    assert.deepEqual(byId.get(cleo.id), { n: 2 })
    assert.deepEqual([byId.has(fred.id), byId.has(newId)], [false, true])
    assert.equal(tableOf('sessions').updated, 1)
    assert.equal(tableOf('sessions').removed, 1)
    assert.equal(errorOf(await refresh(server.url, pat.tokens[1]))[1], 'refresh_token_not_found')
    assert.equal((await refresh(server.url, 'aaaabbbbcccc')).status, 200)
    // This token has been replaced twice, so it ends the session.
    assert.equal(errorOf(await refresh(server.url, ada.tokens[1]))[1], 'refresh_token_already_used')
  })
}

test('a change that was committed after the snapshot, with an earlier time, is read with --since', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { people, importRows, change } = opened
  const { report } = await importRows()
  await change(
    `update users set raw_user_meta_data = '{"n": 2}', updated_at = $2::timestamptz - interval '10 s'
     where id = $1`,
    [people.cleo.id, report.snapshotAt],
  )
  const { tableOf } = await importRows('--since', report.snapshotAt)
  assert.equal(tableOf('users').updated, 1)
})

test('a user can have an address that belonged to a renamed or deleted user', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, source, people, importRows, change } = opened
  await importRows()
  const { cleo, fred } = people
  await change(
    `update users set email = 'renamed@source.example', updated_at = now() where id = $1`,
    [cleo.id],
  )
  await change('delete from users where id = $1', [fred.id])
  // These users are imported before the others, because their IDs are smaller.
  const [one, two] = ['1', '2'].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`)
  await source.writer.user({ id: one, email: cleo.email, updated_at: new Date() })
  await source.writer.user({ id: two, email: fred.email, updated_at: new Date() })
  const { tableOf } = await importRows()
  const { added, updated, removed, skipped, unchanged, inSource } = tableOf('users')
  assert.deepEqual([added, updated, removed, skipped], [2, 1, 1, {}])
  assert.equal(unchanged, inSource - 3)
  const emails = await server.query('select email from users where id = any($1) order by id', [
    [one, two, cleo.id],
  ])
  assert.deepEqual(
    emails.map(({ email }) => email),
    [cleo.email, fred.email, 'renamed@source.example'],
  )
})

test('rows that were changed or deleted here are kept', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, people, importRows, change } = opened
  const { ada, cleo, pat } = people
  await importRows()
  const update = { user_metadata: { here: true } }
  const token = server.serviceToken
  await send(server.url, `/admin/users/${ada.id}`, { method: 'PUT', body: update, token })
  await send(server.url, `/admin/users/${cleo.id}`, { method: 'DELETE', token })
  assert.equal((await refresh(server.url, pat.tokens[1])).status, 200)
  await change(`update users set raw_user_meta_data = '{"there": true}', updated_at = now()`)
  await change('update sessions set tag = $1, updated_at = now() where id = $2', [
    't',
    pat.sessionId,
  ])

  const { tableOf } = await importRows()
  const { skipped } = tableOf('users')
  assert.deepEqual(skipped['changed here'].examples.includes(ada.id), true)
  assert.deepEqual(skipped['deleted here'].examples, [cleo.id])
  assert.deepEqual(tableOf('sessions').skipped['changed here'].examples, [pat.sessionId])
  const [row] = await server.query('select raw_user_meta_data as data from users where id = $1', [
    ada.id,
  ])
  assert.equal(row.data.here, true)
  assert.deepEqual(await server.query('select 1 from users where id = $1', [cleo.id]), [])
})

test('users whose address or phone number is taken here are skipped, with everything that belongs to them', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, people, run, importRows } = opened
  const token = server.serviceToken
  const make = async (body: object) => {
    const made = await send(server.url, '/admin/users', { body, token })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    return made.body.id as string
  }
  const ada = await make({ email: 'ada@source.example', password: 'another password' })
  const ben = await make({ phone: people.ben.phone, phone_confirm: true })
  const { tableOf } = await importRows()
  const { skipped } = tableOf('users')
  assert.deepEqual(skipped['email taken'].examples, [people.ada.id])
  assert.deepEqual(skipped['phone taken'].examples, [people.ben.id])
  assert.equal(tableOf('identities').skipped['no user'].count, 1)
  assert.equal(tableOf('sessions').skipped['no user'].count, 1)
  const ids = (await server.query('select id from users')).map(({ id }) => id)
  assert.ok(ids.includes(ada) && ids.includes(ben))
  assert.ok(!ids.includes(people.ada.id))
  const body = { email: 'ada@source.example', password: sourcePassword }
  const answer = await send(server.url, '/token?grant_type=password', { body })
  assert.equal(answer.status, 400)
  const { stdout } = await run()
  assert.match(
    stdout,
    new RegExp(`skipped 1: another user already has this email address \\(${people.ada.id}\\)`),
  )
})

test('of users whose addresses differ only in case, the oldest is imported', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { source, importRows, people } = opened
  const id = await source.writer.user({ email: 'CLEO@source.example', created_at: new Date() })
  const { tableOf } = await importRows()
  assert.deepEqual(tableOf('users').skipped['email taken'].examples, [id])
  assert.ok(
    !Object.values(tableOf('users').skipped).some((each) =>
      JSON.stringify(each).includes(people.cleo.id),
    ),
  )
})

test('a dry run reports the same and writes nothing', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, importRows, run } = opened
  const before = await readAll(server.databaseUrl, server.schema)
  const { report: dry } = await importRows('--dry-run')
  assert.deepEqual(await readAll(server.databaseUrl, server.schema), before)
  const { stdout } = await run('--dry-run')
  assert.match(stdout, /^Dry run: nothing was written\./)
  // Nothing was imported, so the next run must read everything.
  assert.doesNotMatch(stdout, /--since/)
  const { report } = await importRows()
  assert.deepEqual(dry.tables, report.tables)
})

test('an import refuses to delete many users, unless that is requested', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, change, run, importRows } = opened
  await importRows()
  await change('delete from users')
  const { code, stderr } = await run()
  assert.equal(code, 1)
  assert.match(
    stderr,
    /The source has 0 users, but \d+ were imported from it earlier\..+--accept-removals/,
  )
  assert.ok((await server.query('select 1 from users')).length > 10)
  await importRows('--accept-removals')
  assert.deepEqual(await server.query('select 1 from users'), [])
})

test('two imports do not run at the same time', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, run, importRows } = opened
  const [{ held }] = await server.query(
    `select pg_try_advisory_lock(hashtextextended('auth import ' || $1, 0)) as held`,
    [server.schema],
  )
  assert.equal(held, true)
  const { code, stderr } = await run()
  assert.deepEqual([code, /Another import into this schema is running/.test(stderr)], [1, true])
  await server.query(`select pg_advisory_unlock(hashtextextended('auth import ' || $1, 0))`, [
    server.schema,
  ])
  await importRows()
})
