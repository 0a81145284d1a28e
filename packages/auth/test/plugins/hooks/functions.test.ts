/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../../src/config/config.ts'
import { openDatabase } from '../../../src/db/database.ts'
import { createHooks } from '../../../src/plugins/hooks/create-hooks.ts'
import { testEnvironment } from '../../support/auth-server.ts'
import { claimsOf } from '../../support/factors.ts'
import { errorOf, openFlowServer } from '../../support/flow-server.ts'
import { toHookEnvironment } from '../../support/hooked-server.ts'
import { newEmail, password } from '../../support/http-client.ts'
import { openSharedPostgres } from '../../support/shared-postgres.ts'

const functions = `
  create schema if not exists hook_tests;
  create table if not exists hook_tests.attempts (user_id uuid, valid boolean);
  create or replace function hook_tests."Add_Claims"(event jsonb) returns jsonb language sql as $$
    select jsonb_build_object('claims', (event -> 'claims') || '{"plan": "gold"}')
  $$;
  create or replace function hook_tests.only_example(event json) returns json language sql as $$
    select case when event #>> '{user,email}' like '%@example.com' then '{}'::json
      else '{"error": {"http_code": 403, "message": "Only for us"}}'::json end
  $$;
  create or replace function hook_tests.count_attempts(event jsonb) returns jsonb
    language plpgsql as $$
  begin
    insert into hook_tests.attempts values ((event ->> 'user_id')::uuid, (event ->> 'valid')::boolean);
    if (select count(*) from hook_tests.attempts where not valid) > 1 then
      return '{"decision": "reject", "message": "Locked"}';
    end if;
    return '{"decision": "continue"}';
  end $$;
  create or replace function hook_tests.slow(event jsonb) returns void language sql as $$
    select pg_sleep(60)
  $$;
  create or replace function hook_tests.broken(event jsonb) returns jsonb language plpgsql as $$
  begin raise exception 'confidential detail'; end $$;
  create or replace function hook_tests.silent(event jsonb) returns void language sql as $$
    select null
  $$;`

const uri = (name: string) => `pg-functions://postgres/hook_tests/${name}`

test('hooks that are database functions', async (t) => {
  const server = await openFlowServer(t, {
    ...toHookEnvironment(['customize-access-token'], uri('Add_Claims')),
    ...toHookEnvironment(['before-user-created'], uri('only_example')),
    ...toHookEnvironment(['password-verification'], uri('count_attempts')),
  })
  if (!server) return
  const { post, query } = server
  await query(functions)

  await t.test('change tokens, refuse users and decide on passwords', async () => {
    const refused = await post('/signup', { email: 'ada@elsewhere.example', password })
    assert.deepEqual(errorOf(refused), [403, 'unknown', 'Only for us'])
    const { id, email } = await server.newUser()
    const login = (word: string) => post('/token?grant_type=password', { email, password: word })
    const { body } = await login(password)
    assert.equal(claimsOf(body.access_token).plan, 'gold')
    const refresh_token = body.refresh_token
    const again = await post('/token?grant_type=refresh_token', { refresh_token })
    assert.equal(claimsOf(again.body.access_token).plan, 'gold')
    assert.equal((await login('wrong')).body.msg, 'Invalid login credentials')
    // Rows that a function inserts are kept, even if it rejects the request.
    assert.deepEqual(errorOf(await login('wrong')), [400, 'invalid_credentials', 'Locked'])
    assert.deepEqual(errorOf(await login(password)), [400, 'invalid_credentials', 'Locked'])
    const rows = await query('select valid from hook_tests.attempts where user_id = $1', [id])
    assert.deepEqual(
      rows.map(({ valid }) => valid),
      [true, false, false, true],
    )
  })
})

test('failing hook functions', async (t) => {
  const postgres = await openSharedPostgres(t)
  if (!postgres) return
  const log = { warning: () => undefined }
  const settings = { url: postgres.url, schema: 'auth', maxPoolSize: 2, idleTimeoutMs: 1_000, log }
  const lines: string[] = []
  // Only the slow function gets a short timeout, because any call may be slow on a busy machine.
  const call = async (name: string, functionTimeoutMs = 20_000) => {
    await using db = openDatabase(settings)
    const { config } = parseConfig({
      ...testEnvironment,
      ...toHookEnvironment(['before-user-created'], uri(name)),
    })
    const hooks = createHooks({
      config: config.hooks,
      db,
      now: Date.now,
      log: { warning: (text) => lines.push(typeof text === 'string' ? text : text()) },
      functionTimeoutMs,
    })
    return await hooks.beforeUserCreated?.({ user: { email: newEmail() } }, { ip: '' })
  }

  await t.test('a function that returns nothing accepts the request', async () => {
    assert.equal(await call('silent'), undefined)
  })
  await t.test('a function that takes too long is cancelled', async () => {
    await assert.rejects(call('slow', 200), {
      status: 422,
      code: 'hook_timeout',
      message: 'Failed to reach hook within maximum time of 0.200000 seconds',
    })
  })
  await t.test('the reason of a failure is logged and not returned', async () => {
    for (const name of ['broken', 'missing']) {
      await assert.rejects(call(name), (error: Error & { status?: number }) => {
        assert.deepEqual([error.status, error.message], [500, 'Hook function failed'])
        return true
      })
    }
    assert.deepEqual(lines.slice(-2), [
      'The hook before-user-created failed: Hook function failed ' +
        '(PostgreSQL reported P0001; see the PostgreSQL log for details)',
      'The hook before-user-created failed: Hook function failed ' +
        '(function hook_tests.missing(unknown) does not exist)',
    ])
  })
})
