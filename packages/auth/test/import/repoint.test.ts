/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { runCommand } from '../support/auth-command.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import { openOwnDatabase, runIn } from '../support/shared-postgres.ts'
import {
  openSource,
  sourceEnvironment,
  toCommandEnvironment,
} from '../support/supabase-source/open-source.ts'

/** An application with tables that refer to the users of the source. */
async function openApplication(t: TestContext) {
  const server = await openFlowServer(t, sourceEnvironment)
  if (!server) return undefined
  const source = await openSource(t, server.databaseUrl, '2.196')
  const people = await source.addPeople()
  const { schema, client } = source
  const app = `app_${randomUUID().slice(0, 8)}`
  await client.query(`
    create function ${schema}.uid() returns uuid language sql stable as
      $$ select nullif(current_setting('request.jwt.claim.sub', true), '')::uuid $$;
    create function ${schema}.jwt() returns jsonb language sql stable as
      $$ select '{}'::jsonb $$;
    create schema ${app};
    create table ${app}.profiles (
      id uuid primary key references ${schema}.users on delete cascade, name text
    );
    create table ${app}.notes (
      id uuid primary key default gen_random_uuid(),
      "Owner" uuid default ${schema}.uid() constraint "notes of" references ${schema}.users (id),
      text text
    );
    create table ${app}.devices (session_id uuid references ${schema}.sessions);
    alter table ${app}.notes enable row level security;
    create policy "own notes" on ${app}.notes
      using ("Owner" = (select ${schema}.uid())) with check (${schema}.jwt() is not null);
    create policy others on ${app}.notes for select using (true);
    create function ${app}.add_profile() returns trigger language plpgsql security definer as
      $$ begin insert into ${app}.profiles (id, name) values (new.id, new.email); return new; end $$;
    create trigger on_user_created after insert on ${schema}.users
      for each row execute function ${app}.add_profile();
    create function ${app}.owner_name() returns text language sql as
      $$ select email from ${schema}.users where id = ${schema}.uid() $$;
    insert into ${app}.profiles select id, 'imported' from ${schema}.users;
    insert into ${app}.notes ("Owner", text) values ('${people.ada.id}', 'hello')`)
  t.after(async () => {
    await runIn(server.databaseUrl, `drop schema ${app} cascade`)
  })
  const env = toCommandEnvironment(server)
  const run = (...args: readonly string[]) =>
    runCommand(['import', '--from', source.url, ...args], { env })
  const query = async (text: string) => (await client.query(text)).rows
  return { server, source, people, app, run, query }
}

test('foreign keys, policies, defaults and triggers are pointed to the new schema and back', async (t) => {
  const opened = await openApplication(t)
  if (!opened) return
  const { server, source, people, app, run, query } = opened
  const early = await run('--apply-sql')
  assert.equal(early.code, 1)
  assert.match(
    early.stderr,
    /^Nothing was changed: Rows of your tables refer to users who are missing .+users with auth import,/,
  )
  assert.equal((await run()).code, 0)

  const printed = await run('--print-sql')
  assert.deepEqual([printed.code, printed.stderr], [0, ''])
  assert.match(printed.stdout, /-- Review and change these yourself:\n/)
  assert.match(printed.stdout, new RegExp(`--   function ${app}\\.owner_name\\(\\)`))
  assert.match(printed.stdout, new RegExp(`--   foreign key \\S+ of ${app}\\.devices to sessions`))
  assert.doesNotMatch(printed.stdout, /policy others/)
  const referenced = async () =>
    (
      await query(`select n.nspname as schema from pg_constraint k
        join pg_class f on f.oid = k.confrelid join pg_namespace n on n.oid = f.relnamespace
        where k.contype = 'f' and k.conrelid in ('${app}.notes'::regclass, '${app}.profiles'::regclass)`)
    ).map(({ schema }) => schema)
  assert.deepEqual(await referenced(), [source.schema, source.schema])

  const applied = await run('--apply-sql')
  assert.equal(applied.code, 0, applied.stderr)
  assert.equal(applied.stdout, printed.stdout)
  assert.deepEqual(await referenced(), [server.schema, server.schema])
  const [policy] = await query(
    `select qual, with_check from pg_policies where schemaname = '${app}' and policyname = 'own notes'`,
  )
  assert.match(policy.qual, new RegExp(`${server.schema}\\.uid\\(\\)`))
  assert.match(policy.with_check, new RegExp(`${server.schema}\\.jwt\\(\\)`))
  const [{ value }] = await query(`select pg_get_expr(adbin, adrelid) as value from pg_attrdef
    where adrelid = '${app}.notes'::regclass and pg_get_expr(adbin, adrelid) like '%.uid()'`)
  assert.equal(value, `${server.schema}.uid()`)

  // The trigger creates the profile of a new user here, and the foreign key deletes it with the user.
  const made = await send(server.url, '/admin/users', {
    body: { email: 'new@example.com' },
    token: server.serviceToken,
  })
  const profileOf = (id: string) => query(`select name from ${app}.profiles where id = '${id}'`)
  assert.deepEqual(await profileOf(made.body.id), [{ name: 'new@example.com' }])
  await send(server.url, `/admin/users/${people.cleo.id}`, {
    method: 'DELETE',
    token: server.serviceToken,
  })
  assert.deepEqual(await profileOf(people.cleo.id), [])

  await send(server.url, `/admin/users/${made.body.id}`, {
    method: 'DELETE',
    token: server.serviceToken,
  })
  const back = await run('--apply-sql', '--reverse')
  assert.equal(back.code, 0, back.stderr)
  assert.deepEqual(await referenced(), [source.schema, source.schema])
  // The triggers with which this server counts its users are not copied.
  const triggers = await query(`select tgname as name from pg_trigger
    where tgrelid = '${source.schema}.users'::regclass and not tgisinternal`)
  assert.deepEqual(triggers, [{ name: 'on_user_created' }])
})

test('a table in a policy keeps its schema if its name only begins with "users"', async (t) => {
  const opened = await openApplication(t)
  if (!opened) return
  const { server, source, app, run, query } = opened
  const { schema } = source
  await query(`create table ${schema}.users_extra (id uuid)`)
  await query(`create policy extra on ${app}.notes
    using ("Owner" in (select e.id from ${schema}.users_extra e join ${schema}.users u using (id)))`)
  assert.equal((await run()).code, 0)
  const applied = await run('--apply-sql')
  assert.equal(applied.code, 0, applied.stderr)
  const [{ qual }] = await query(
    `select qual from pg_policies where schemaname = '${app}' and policyname = 'extra'`,
  )
  // The search path of the connection contains the schema of the source.
  assert.match(qual, new RegExp(`FROM \\(users_extra e\\s+JOIN ${server.schema}\\.users u`))
})

test('roles that could use the functions of the old schema can use those of the new one', async (t) => {
  const opened = await openApplication(t)
  if (!opened) return
  const { server, source, people, app, run, query } = opened
  const [member, guest] = ['member', 'guest'].map((name) => `${name}_${randomUUID().slice(0, 8)}`)
  await query(`
    create role ${member}; create role ${guest};
    grant usage on schema ${source.schema} to ${member};
    grant usage on schema ${app} to ${member}, ${guest};
    grant select on ${app}.notes to ${member}, ${guest};
    drop policy others on ${app}.notes;
    revoke execute on function ${source.schema}.uid(), ${server.schema}.uid() from public;
    grant execute on function ${source.schema}.uid() to ${member}`)
  t.after(() =>
    runIn(
      server.databaseUrl,
      `drop owned by ${member}, ${guest}; drop role ${member}; drop role ${guest}`,
    ),
  )
  const readAs = async (role: string | undefined) => {
    await query(`begin; set local role ${role}`)
    try {
      await query(`set local request.jwt.claim.sub = '${people.ada.id}'`)
      return await query(`select text from ${app}.notes`)
    } finally {
      await query('rollback')
    }
  }
  assert.deepEqual(await readAs(member), [{ text: 'hello' }])
  assert.equal((await run()).code, 0)
  const { code, stdout, stderr } = await run('--apply-sql')
  assert.equal(code, 0, stderr)
  assert.match(stdout, new RegExp(`\ngrant usage on schema ${server.schema} to ${member};\n`))
  assert.match(
    stdout,
    new RegExp(`grant execute on function ${server.schema}.uid\\(\\) to ${member};\n`),
  )
  assert.doesNotMatch(stdout, new RegExp(`${guest}|grant execute on function \\S+jwt`))
  assert.deepEqual(await readAs(member), [{ text: 'hello' }])
  await assert.rejects(readAs(guest), /permission denied for/)
  // What has been granted is not granted again, and the way back needs no privileges.
  assert.doesNotMatch((await run('--print-sql')).stdout, /grant/)
  assert.doesNotMatch((await run('--print-sql', '--reverse')).stdout, /grant/)
})

test('objects cannot be repointed between databases, but users can be imported', async (t) => {
  const opened = await openApplication(t)
  if (!opened) return
  const other = await openOwnDatabase(t)
  if (!other) return
  const elsewhere = await openSource(t, other.url, '2.196')
  const env = toCommandEnvironment(opened.server)
  const { code, stderr } = await runCommand(['import', '--from', elsewhere.url, '--print-sql'], {
    env,
  })
  assert.equal(code, 1)
  assert.match(stderr, /^The SQL cannot be printed: The schemas are in different databases/)
  await elsewhere.addPeople()
  const imported = await runCommand(['import', '--from', elsewhere.url], { env })
  assert.equal(imported.code, 0, imported.stderr + imported.stdout)
})
