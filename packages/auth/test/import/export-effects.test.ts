/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { runCommand } from '../support/auth-command.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import { runIn } from '../support/shared-postgres.ts'
import {
  openSource,
  sourceEnvironment,
  toCommandEnvironment,
  toSourceUrl,
} from '../support/supabase-source/open-source.ts'
import { runReport } from '../support/supabase-source/run-report.ts'
import type { SourceRelease } from '../support/supabase-source/schema.ts'

/** Opens a server with the users of a source. */
async function open(t: TestContext, release: SourceRelease = '2.196') {
  const server = await openFlowServer(t, sourceEnvironment)
  if (!server) return undefined
  const source = await openSource(t, server.databaseUrl, release)
  const people = await source.addPeople()
  await runReport(server, 'import', '--from', source.url)
  const exportRows = (...args: readonly string[]) =>
    runReport(server, 'export', '--to', source.url, ...args)
  const there = async (text: string, values: readonly unknown[] = []) =>
    (await source.client.query(text, [...values])).rows
  const admin = async (method: string, path: string, body?: object) => {
    const token = server.serviceToken
    const answer = await send(server.url, `/admin/users${path}`, {
      ...{ method, token },
      ...(body && { body }),
    })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  }
  /** Creates profiles as many applications do, in the schema of the source. */
  const addTriggers = () =>
    source.client.query(`
      create table profiles (id uuid primary key references users on delete cascade);
      create table notes (owner uuid references users deferrable initially deferred);
      create table calls (name text);
      create table welcomed (id uuid primary key);
      insert into profiles select id from users;
      create function add_profile() returns trigger language plpgsql as
        $$ begin insert into ${source.schema}.profiles values (new.id);
          insert into ${source.schema}.welcomed values (new.id); return new; end $$;
      create function count_call() returns trigger language plpgsql as
        $$ begin insert into ${source.schema}.calls values (tg_name); return null; end $$;
      create trigger on_user_created after insert on users for each row execute function add_profile();
      create trigger on_any_change after insert or update or delete on users
        for each row execute function count_call();
      create trigger on_identity after insert or delete on identities
        for each row execute function count_call();
      create trigger off_before after insert on users for each row execute function count_call();
      alter table users disable trigger off_before;
      alter table users enable always trigger on_any_change`)
  return { server, source, people, exportRows, there, admin, addTriggers }
}

const listTriggers = `select tgname as name, tgenabled as state from pg_trigger
  where tgrelid in ('users'::regclass, 'identities'::regclass) and not tgisinternal order by 1`

test('an export fires no triggers, keeps foreign keys in effect, and leaves triggers as they were', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { people, exportRows, there, admin, addTriggers } = opened
  await addTriggers()
  const before = await there(listTriggers)
  const { id } = await admin('POST', '', { email: 'new@source.example', email_confirm: true })
  // The trigger on the table of this server has already welcomed the new user.
  await there('insert into welcomed values ($1)', [id])
  await admin('PUT', `/${people.ada.id}`, { user_metadata: { n: 2 } })
  await admin('DELETE', `/${people.cleo.id}`)
  const { tableOf } = await exportRows()
  const { added, updated, removed } = tableOf('users')
  assert.deepEqual([added, updated, removed], [1, 1, 1])
  assert.deepEqual(await there('select 1 from profiles where id = $1', [id]), [])
  assert.deepEqual(await there('select 1 from profiles where id = $1', [people.cleo.id]), [])
  assert.deepEqual(await there('select 1 from identities where user_id = $1', [people.cleo.id]), [])
  assert.deepEqual(await there('select name from calls'), [])
  assert.deepEqual(await there(listTriggers), before)
})

test('an export refuses a role that cannot disable triggers, before it writes', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, source, there, admin, addTriggers } = opened
  const role = `writer_${randomUUID().slice(0, 8)}`
  await source.client.query(`
    create role ${role} login password 'writer';
    grant usage on schema ${source.schema} to ${role};
    grant select, insert, update, delete on all tables in schema ${source.schema} to ${role}`)
  t.after(() => runIn(server.databaseUrl, `drop owned by ${role}; drop role ${role}`))
  const url = new URL(server.databaseUrl)
  url.username = role
  url.password = 'writer'
  const to = toSourceUrl(url.href, source.schema)
  // Without triggers, the role need not own the tables.
  await runReport(server, 'export', '--to', to)
  await addTriggers()
  await admin('POST', '', { email: 'new@source.example', email_confirm: true })
  const before = await there('select * from users order by id')
  const env = toCommandEnvironment(server)
  for (const args of [[], ['--dry-run']]) {
    const { code, stderr } = await runCommand(['export', '--to', to, ...args], { env })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^The export failed: The export must not fire triggers \(.*on_user_created on .+does not own.+such as supabase_auth_admin.+alter table \S+\.users disable trigger on_user_created;/,
    )
  }
  assert.deepEqual(await there('select * from users order by id'), before)
  await source.client.query(`
    alter table users disable trigger user; alter table identities disable trigger user`)
  const { tableOf } = await runReport(server, 'export', '--to', to)
  assert.equal(tableOf('users').added, 1)
})

for (const release of ['2.150', '2.196'] as const) {
  test(`a dry run of an export to ${release} reports what the export then does`, async (t) => {
    const opened = await open(t, release)
    if (!opened) return
    const { server, people, exportRows, there, admin } = opened
    const compare = async () => {
      const before = await there('select * from users order by id')
      const dry = await exportRows('--dry-run')
      assert.deepEqual(await there('select * from users order by id'), before)
      const real = await exportRows()
      assert.deepEqual(dry.report.tables, real.report.tables)
      return real
    }
    const { ada, cleo, fred, gina, pat, tess } = people
    // A new user with the address of a deleted one, and one with that of a renamed one.
    await admin('DELETE', `/${cleo.id}`)
    const make = (id: string, email: string) =>
      admin('POST', '', { id, email, email_confirm: true })
    await make('00000000-0000-4000-8000-000000000001', cleo.email)
    await admin('PUT', `/${fred.id}`, { email: 'renamed@source.example', email_confirm: true })
    await make('00000000-0000-4000-8000-000000000002', fred.email)
    await admin('DELETE', `/${gina.id}`)
    await there(`update users set updated_at = now() + interval '1 hour' where id = $1`, [gina.id])
    await admin('PUT', `/${ada.id}`, { user_metadata: { here: true } })
    await there(`update users set updated_at = now() + interval '1 hour' where id = $1`, [ada.id])
    await server.query('delete from mfa_factors where id = $1', [tess.factorId])
    await server.query('delete from identities where user_id = $1', [pat.id])
    const { tableOf } = await compare()
    const { added, updated, removed, skipped } = tableOf('users')
    assert.deepEqual([added, updated, removed], [2, 1, 1])
    assert.deepEqual(Object.keys(skipped), ['changed there'])
    // The identities of the new users, and those of the renamed user.
    assert.deepEqual([tableOf('identities').added, tableOf('identities').skipped], [2, {}])
    assert.equal(tableOf('mfa_factors').removed, 1)
    await compare()
  })
}

test('an export deletes only users who were imported from the same database', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, source, people, exportRows, there, admin } = opened
  const elsewhere = await openSource(t, server.databaseUrl, '2.196')
  const { id } = people.cleo
  await elsewhere.writer.user({ id, email: 'cleo@elsewhere.example', updated_at: new Date(0) })
  await admin('DELETE', `/${id}`)
  await runReport(server, 'export', '--to', elsewhere.url)
  const { rows } = await elsewhere.client.query('select 1 from users where id = $1', [id])
  assert.equal(rows.length, 1)
  assert.equal((await exportRows()).tableOf('users').removed, 1)
  assert.deepEqual(await there(`select 1 from ${source.schema}.users where id = $1`, [id]), [])
})

test('what was exported and then deleted here is deleted there by the next export', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, source, people, exportRows, there, admin } = opened
  const created = await admin('POST', '', { email: 'new@source.example', email_confirm: true })
  await admin('PUT', `/${people.ada.id}`, { user_metadata: { n: 2 } })
  await exportRows()
  await admin('DELETE', `/${created.id}`)
  await admin('DELETE', `/${people.ada.id}`)
  const { tableOf } = await exportRows()
  assert.equal(tableOf('users').removed, 2)
  const left = await there('select id from users where id = any($1)', [[created.id, people.ada.id]])
  assert.deepEqual(left, [])

  // After the way back, changes in Supabase Auth are imported again.
  await admin('PUT', `/${people.cleo.id}`, { user_metadata: { here: true } })
  await exportRows()
  await there(`update users set raw_user_meta_data = '{"back": true}', updated_at = now()`)
  const imported = await runReport(server, 'import', '--from', source.url)
  assert.equal(imported.tableOf('users').skipped['changed here'], undefined)
  const [row] = await server.query('select raw_user_meta_data as data from users where id = $1', [
    people.cleo.id,
  ])
  assert.deepEqual(row.data, { back: true })
})
