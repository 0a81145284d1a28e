/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runCommand } from '../support/auth-command.ts'
import { openFlowServer } from '../support/flow-server.ts'
import {
  openSource,
  sourceEnvironment,
  toCommandEnvironment,
} from '../support/supabase-source/open-source.ts'
import { runReport } from '../support/supabase-source/run-report.ts'

async function open(t: TestContext) {
  const server = await openFlowServer(t, sourceEnvironment)
  if (!server) return undefined
  return { server, source: await openSource(t, server.databaseUrl, '2.196') }
}

test('values that the import replaces, such as null, do not count as differences', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, source } = opened
  const { writer } = source
  // The sample is random, but certainly contains rows whose IDs are far apart.
  const [id, other] = ['5', 'a'].map((digit) => `${digit}0000000-0000-4000-8000-000000000001`)
  await writer.user({ id, email: 'One@source.example', aud: null, created_at: null })
  await writer.user({ id: other, email: '', created_at: null, updated_at: null })
  await writer.insert('identities', {
    ...{ id: other, user_id: id, provider: 'email', provider_id: id, identity_data: '[]' },
  })
  assert.ok(id)
  const sessionId = await writer.session(id, { created_at: null })
  await writer.storedTokens(id, sessionId, 1)
  const { report } = await runReport(server, 'import', '--from', source.url)
  const { sampled, differences } = report.verification
  assert.deepEqual(differences, [])
  assert.ok(sampled >= 3)
})

test('the sample covers the whole table', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, source } = opened
  const userCount = 4_000
  await source.client.query(`
    insert into users (id, aud, role, email, created_at, updated_at)
    select md5(n::text)::uuid, 'authenticated', 'authenticated', n || '@source.example', now(), now()
    from generate_series(1, ${userCount}) n`)
  const { report } = await runReport(server, 'import', '--from', source.url)
  // 500 random users of 4,000: about 470 different ones. A sample from a part of the table has fewer.
  assert.ok(report.verification.sampled > 350, `${report.verification.sampled}`)
})

test('rows that differ from the source are reported: twenty of them, and how many more', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, source } = opened
  await source.client.query(`
    insert into users (id, aud, role, email, created_at, updated_at)
    select md5(n::text)::uuid, 'authenticated', 'authenticated', n || '@source.example', now(), now()
    from generate_series(1, 100) n`)
  await server.query(`create function change_user() returns trigger language plpgsql as
    $$ begin new.invited_at = now(); return new; end $$`)
  await server.query(
    'create trigger change_user before insert on users for each row execute function change_user()',
  )
  const { code, stdout } = await runCommand(['import', '--from', source.url], {
    env: toCommandEnvironment(server),
  })
  assert.equal(code, 1)
  const [, list = ''] = stdout.split('The verification found differences:\n')
  const lines = list.split('\n').filter((line) => line.startsWith('  '))
  for (const line of lines.slice(0, 20)) {
    assert.match(line, /^ {2}users: the row [\da-f-]{36} differs from the source$/)
  }
  // The sample is random, so it may miss a few rows.
  assert.match(lines.slice(20).join(), /^ {2}and \d\d more differences$/)
})
