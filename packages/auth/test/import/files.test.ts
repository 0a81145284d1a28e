/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hash } from '@node-rs/bcrypt'
import { runCommand } from '../support/auth-command.ts'
import { makeFolder } from '../support/embedded-place.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import { sourceEnvironment, toCommandEnvironment } from '../support/supabase-source/open-source.ts'

const passwordHash = await hash('user1password', { cost: 4 })

async function open(t: TestContext) {
  const server = await openFlowServer(t, sourceEnvironment)
  if (!server) return undefined
  const folder = await makeFolder(t)
  const env = toCommandEnvironment(server)
  const importFile = async (name: string, content: string, ...args: readonly string[]) => {
    const file = join(folder, name)
    await writeFile(file, content)
    const option = name.endsWith('.csv') ? '--csv' : '--jsonl'
    const ended = await runCommand(['import', option, file, '--json', ...args], { env })
    assert.equal(ended.code, 0, ended.stderr)
    const { tables } = JSON.parse(ended.stdout)
    return tables[0]
  }
  const signIn = (body: object) => send(server.url, '/token?grant_type=password', { body })
  return { server, folder, env, importFile, signIn }
}

const toLines = (records: readonly unknown[]) =>
  records
    .map((record) => `${typeof record === 'string' ? record : JSON.stringify(record)}\n`)
    .join('')

test('users of a JSON lines file sign in, and importing it again changes nothing', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, importFile, signIn } = opened
  const records = [
    {
      email: 'Ada@File.example',
      password_hash: passwordHash,
      email_confirmed: true,
      user_metadata: { full_name: 'Ada' },
      app_metadata: { plan: 'pro' },
      created_at: '2020-01-02T03:04:05Z',
    },
    { phone: '+15550100001', phone_confirmed: '2021-01-01T00:00:00Z', password_hash: passwordHash },
    { email: 'ben@file.example', password_hash: passwordHash },
  ]
  const { added, inSource } = await importFile('users.jsonl', `\uFEFF${toLines(records)}\n`)
  assert.deepEqual([added, inSource], [3, 3])
  const { body } = await signIn({ email: 'ada@file.example', password: 'user1password' })
  assert.equal(body.user.created_at, '2020-01-02T03:04:05Z')
  assert.deepEqual(body.user.user_metadata, { full_name: 'Ada' })
  assert.deepEqual(body.user.app_metadata, {
    provider: 'email',
    providers: ['email'],
    plan: 'pro',
  })
  assert.equal(body.user.identities[0].provider, 'email')
  assert.equal((await signIn({ phone: '15550100001', password: 'user1password' })).status, 200)
  const unconfirmed = await signIn({ email: 'ben@file.example', password: 'user1password' })
  assert.equal(unconfirmed.body.error_code ?? unconfirmed.body.code, 'email_not_confirmed')

  const again = await importFile('users.jsonl', toLines(records))
  assert.deepEqual([again.added, again.updated, again.unchanged], [0, 0, 3])
  const changed = records.map((record) => ({ ...record, user_metadata: { n: 1 } }))
  const later = await importFile('users.jsonl', toLines(changed))
  // The two who signed in were changed here; the third is updated.
  assert.deepEqual([later.updated, later.skipped['changed here'].count], [1, 2])
  assert.equal((await server.query('select 1 from users')).length, 3)
})

test('a CSV file may contain quotes, commas and line breaks', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, importFile } = opened
  const csv = [
    'email,user_metadata,email_confirmed,created_at',
    'ada@file.example,"{""full_name"": ""Lovelace, Ada""}",true,2020-01-02T03:04:05Z',
    '"ben@file.example","{""text"": ""ä\\nb""}",false,2020-01-02 05:34:05.25+02:30',
    'cleo@file.example,,,',
    'dora@file.example,too few',
  ].join('\r\n')
  const { added, skipped } = await importFile('users.csv', csv)
  assert.equal(added, 3)
  assert.deepEqual(skipped['invalid record'].examples, [
    'line 5: it has 2 fields, but the first line has 4',
  ])
  const [times] = await server.query(
    `select max(created_at) filter (where email ~ '^ada') as ada,
      max(created_at) filter (where email ~ '^ben') as ben from users`,
  )
  assert.deepEqual(
    [times?.ada, times?.ben].map((time) => new Date(time).toISOString()),
    ['2020-01-02T03:04:05.000Z', '2020-01-02T03:04:05.250Z'],
  )
  const rows = await server.query('select email, raw_user_meta_data as data from users order by 1')
  assert.deepEqual(rows, [
    { email: 'ada@file.example', data: { full_name: 'Lovelace, Ada' } },
    { email: 'ben@file.example', data: { text: 'ä\nb' } },
    { email: 'cleo@file.example', data: {} },
  ])
})

test('invalid records are reported with their line, and the others are imported', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { importFile, env, folder } = opened
  const lines = toLines([
    { email: 'ada@file.example' },
    'not JSON',
    '[1]',
    { email: 'no address' },
    { phone: '0' },
    {},
    { email: 'x@file.example', password_hash: 'plain text' },
    { email: 'x@file.example', created_at: '3' },
    { email: 'x@file.example', id: '1' },
    { email: 'x@file.example', user_metadata: '{"a":' },
    { email: 'x@file.example', nickname: 'x' },
    { email: 'ADA@file.example' },
    { email: 'ada@file.example', id: '00000000-0000-4000-8000-000000000001' },
  ])
  const { added, skipped } = await importFile('users.jsonl', lines)
  assert.equal(added, 1)
  assert.deepEqual(skipped['invalid record'].examples, [
    'line 2: it is not a JSON object',
    'line 3: it is not a JSON object',
    'line 4: email: Unable to validate email address: invalid format',
    'line 5: phone: Invalid phone number format (E.164 required)',
    'line 6: it has neither email nor phone',
    'line 7: password_hash: must be a hash of bcrypt, argon2i, argon2id or Firebase scrypt',
    'line 8: created_at: must be a time such as 2026-01-31T12:00:00Z',
    'line 9: id: must be a UUID',
    'line 10: user_metadata: must be a JSON object',
    'line 11: the field nickname is unknown; docs/auth-migration.md lists the fields',
  ])
  assert.deepEqual(skipped['duplicate record'].examples, ['line 12'])
  assert.equal(skipped['email taken'].count, 1)
  const missing = await runCommand(['import', '--jsonl', join(folder, 'missing')], { env })
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /missing cannot be read: no such file or directory\n/)
})

test('a file that cannot be read is reported before the database is used', async (t) => {
  const folder = await makeFolder(t)
  // Nothing listens on this port, so an attempt to connect would be reported instead.
  const databaseUrl = 'postgres://someone@127.0.0.1:1/db'
  const env = toCommandEnvironment({ databaseUrl, schema: 'auth' })
  for (const [option, path, reason] of [
    ['--jsonl', join(folder, 'missing'), 'cannot be read: no such file or directory'],
    ['--csv', join(folder, 'missing'), 'cannot be read: no such file or directory'],
    ['--jsonl', folder, 'is a folder, not a file.'],
  ] as const) {
    const { code, stderr } = await runCommand(['import', option, path], { env })
    assert.deepEqual([code, stderr], [1, `The import failed: ${path} ${reason}\n`])
  }
})

test('of several records for one user, the first is imported, also if they are in different batches', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { importFile, server } = opened
  const lines = toLines([1, 2, 3].map((n) => ({ email: 'ada@file.example', user_metadata: { n } })))
  for (const args of [['--dry-run'], []]) {
    const { added, updated, skipped } = await importFile(
      'users.jsonl',
      lines,
      '--batch-rows',
      '1',
      ...args,
    )
    assert.deepEqual([added, updated], [1, 0])
    assert.deepEqual(skipped['duplicate record'].examples, ['line 2', 'line 3'])
  }
  assert.deepEqual(await server.query('select raw_user_meta_data as data from users'), [
    { data: { n: 1 } },
  ])
})

test('an exported file contains all users, and can be imported into an empty database', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { importFile, env, folder } = opened
  const records = Array.from({ length: 7 }, (_, at) => ({
    email: `user-${at}@file.example`,
    password_hash: passwordHash,
    email_confirmed: true,
    user_metadata: { at, text: 'line\n"quoted" \\' },
  }))
  await importFile('users.jsonl', toLines(records))
  const file = join(folder, 'exported.jsonl')
  const exported = await runCommand(['export', '--jsonl', file], { env })
  assert.deepEqual([exported.code, exported.stdout], [0, `${file}: 7 users\n`])
  assert.equal((await stat(file)).mode & 0o777, 0o600)

  const other = await open(t)
  assert.ok(other)
  const { added } = await other.importFile('users.jsonl', await readFile(file, 'utf8'))
  assert.equal(added, 7)
  const columns =
    'id, email, encrypted_password, raw_user_meta_data, email_confirmed_at, created_at'
  const read = (from: typeof other) => from.server.query(`select ${columns} from users order by id`)
  assert.deepEqual(await read(other), await read(opened))
  assert.equal(
    (await other.signIn({ email: 'user-3@file.example', password: 'user1password' })).status,
    200,
  )
})

test('an export replaces a file that others can read by one that only its owner can read', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { importFile, env, folder } = opened
  await importFile('users.jsonl', toLines([{ email: 'ada@file.example' }]))
  const file = join(folder, 'exported.jsonl')
  await writeFile(file, 'earlier\n')
  await chmod(file, 0o644)
  assert.equal((await runCommand(['export', '--jsonl', file], { env })).code, 0)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.match(await readFile(file, 'utf8'), /^\{"id" ?: ?"[^\n]+ada@file\.example[^\n]+\}\n$/)
})

test('an export that fails leaves an existing file as it is', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { env, folder } = opened
  const file = join(folder, 'exported.jsonl')
  await writeFile(file, 'earlier\n')
  const failed = await runCommand(['export', '--jsonl', file], {
    env: { ...env, AUTH_DB_NAMESPACE: 'missing_schema' },
  })
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /^The export failed: The tables do not exist/)
  assert.deepEqual(await readdir(folder), ['exported.jsonl'])
  assert.equal(await readFile(file, 'utf8'), 'earlier\n')
})
