/**
 * @servers postgres-embedded
 */
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Secret } from 'otpauth'
import { runCommand } from '../support/auth-command.ts'
import { makeFolder } from '../support/embedded-place.ts'
import { createApp } from '../support/factors.ts'
import { openFlowServer } from '../support/flow-server.ts'
import { send } from '../support/http-client.ts'
import { runIn } from '../support/shared-postgres.ts'
import {
  openSource,
  sourceEnvironment,
  toCommandEnvironment,
  toSourceUrl,
} from '../support/supabase-source/open-source.ts'
import { sourcePassword, totpSecret } from '../support/supabase-source/people.ts'
import { encryptField, signToken } from '../support/supabase-source/tokens.ts'

async function open(t: TestContext) {
  const server = await openFlowServer(t, sourceEnvironment)
  if (!server) return undefined
  const source = await openSource(t, server.databaseUrl, '2.196')
  const env = toCommandEnvironment(server)
  const run = (from: string, ...args: readonly string[]) =>
    runCommand(['import', '--from', from, ...args], { env })
  return { server, source, env, run }
}

test('a source that cannot be imported is refused with advice', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, source, run } = opened
  const refused = async (from: string, message: RegExp, ...args: readonly string[]) => {
    const { code, stdout, stderr } = await run(from, ...args)
    assert.deepEqual([code, stdout], [1, ''], stderr)
    assert.match(stderr, message)
    assert.match(stderr, /^The import failed: /)
  }
  await refused(
    'postgres://someone:secret@127.0.0.1:1/db',
    /The database of Supabase Auth \(127\.0\.0\.1:1\/db, schema "auth"\) cannot be reached .*check the URL in --from/,
  )
  await refused('mysql://x', /The URL in --from must be postgres:/)
  await refused(
    toSourceUrl(server.databaseUrl, 'elsewhere'),
    /does not contain the tables of Supabase Auth \(missing: schema_migrations, users.+\?schema=auth/,
  )
  await refused(
    toSourceUrl(server.databaseUrl, server.schema),
    /contains the tables of this server, not those of Supabase Auth/,
  )
  const setVersion = (version: string) =>
    source.client
      .query('delete from schema_migrations')
      .then(() => source.client.query('insert into schema_migrations values ($1)', [version]))
  await setVersion('20230116124310')
  await refused(
    source.url,
    /before 2\.150 \(last migration: 20230116124310\)\. Upgrade Supabase Auth/,
  )
  await setVersion('20991231000000')
  await refused(source.url, /after 2\.196 \(last migration: 20991231000000\).+--accept-newer/)
  assert.equal((await run(source.url, '--accept-newer')).code, 0)
})

test('passwords in URLs are never printed', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { stderr } = await opened.run('postgres://someone:hunter2@127.0.0.1:1/db')
  assert.doesNotMatch(stderr, /hunter2/)
})

test('a role that cannot read the source, or sees only some rows, is refused', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, source, run } = opened
  const role = `reader_${randomUUID().slice(0, 8)}`
  const { client, schema } = source
  await client.query(`create role ${role} login password 'reader'`)
  t.after(async () => {
    await runIn(server.databaseUrl, `drop owned by ${role}`)
    await runIn(server.databaseUrl, `drop role ${role}`)
  })
  const url = new URL(server.databaseUrl)
  url.username = role
  url.password = 'reader'
  const from = toSourceUrl(url.href, schema)
  const advice = /The role in --from cannot read all rows.+use the role that owns the tables/
  assert.match((await run(from)).stderr, advice)
  await client.query(`grant usage on schema ${schema} to ${role}`)
  await client.query(`grant select on all tables in schema ${schema} to ${role}`)
  assert.equal((await run(from, '--dry-run')).code, 0)
  // Row-level security would hide all users.
  await client.query('alter table users enable row level security')
  assert.match((await run(from, '--dry-run')).stderr, advice)
})

test('the database must have been migrated', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { source, env } = opened
  for (const args of [[], ['--dry-run']]) {
    const { code, stderr } = await runCommand(['import', '--from', source.url, ...args], {
      env: { ...env, AUTH_DB_NAMESPACE: 'empty_schema' },
    })
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^The import failed: The tables do not exist .+run auth migrate first\.\n$/,
    )
  }
})

test('users whose audience differs from that of the server are reported', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { source, env } = opened
  await source.addPeople()
  const args = ['import', '--from', source.url, '--dry-run']
  const { code, stderr } = await runCommand(args, { env: { ...env, AUTH_JWT_AUD: 'others' } })
  assert.equal(code, 0)
  assert.match(
    stderr,
    /\d+ users have the audience \W*authenticated\W*, .+: set AUTH_JWT_AUD=authenticated, or add it to AUTH_JWT_ALLOWED_AUDIENCES/,
  )
  assert.doesNotMatch((await runCommand(args, { env })).stderr, /audience/)
  const allowed = { AUTH_JWT_AUD: 'others', AUTH_JWT_ALLOWED_AUDIENCES: 'authenticated' }
  assert.doesNotMatch(
    (await runCommand(args, { env: { ...env, ...allowed } })).stderr,
    /audience "authenticated"/,
  )
})

test('invalid arguments are refused', async () => {
  const refused = async (args: readonly string[], message: RegExp) => {
    const { code, stderr } = await runCommand(['import', ...args])
    assert.equal(code, 2)
    assert.match(stderr, message)
  }
  await refused([], /^One of --from, --jsonl and --csv is required\.\nSee: auth import --help\n$/)
  for (const since of ['yesterday', '3', '2026-02-31', '2026-01-31T12:00:00'])
    await refused(['--from', 'postgres://x/y', '--since', since], /^--since must be a time/)
  await refused(['--jsonl', 'x', '--csv', 'y'], /^Only one of --from, --jsonl and --csv/)
  await refused(['--jsonl', 'x', '--batch-rows', '0'], /^--batch-rows must be a number/)
  await refused(['--from', 'postgres://x/y', '--reverse'], /^--reverse needs --print-sql or/)
  await refused(['--nothing'], /^Unknown option --nothing\.\n/)
})

test('options that would have no effect are refused', async () => {
  const from = ['--from', 'postgres://x/y']
  const wrong = [
    [[...from, '--apply-sql', '--dry-run'], '--dry-run cannot be used with --apply-sql.'],
    [
      [...from, '--print-sql', '--apply-sql'],
      'Only one of --print-sql and --apply-sql can be used.',
    ],
    [['--jsonl', 'x', '--print-sql'], '--jsonl cannot be used with --print-sql.'],
    [['--csv', 'x', '--since', '2026-01-31'], '--since cannot be used with --csv.'],
  ] as const
  for (const [args, message] of wrong) {
    const { code, stderr } = await runCommand(['import', ...args])
    assert.deepEqual([code, stderr], [2, `${message}\nSee: auth import --help\n`])
  }
})

test('encrypted passwords, TOTP secrets and session keys need the decryption key', async (t) => {
  const opened = await open(t)
  if (!opened) return
  const { server, source, run } = opened
  const { writer } = source
  const key = randomBytes(32)
  const encrypt = (text: string, owner: string) => encryptField(text, owner, 'k1', key)
  const people = await source.addPeople()
  const { ada } = people
  const { rows } = await source.client.query(
    'select encrypted_password as hash from users where id = $1',
    [ada.id],
  )
  await source.client.query('update users set encrypted_password = $2 where id = $1', [
    ada.id,
    encrypt(rows[0].hash, ada.id),
  ])
  const factorId = randomUUID()
  const factor = { status: 'verified', created_at: new Date(), updated_at: new Date() }
  await writer.insert('mfa_factors', {
    ...factor,
    id: factorId,
    user_id: ada.id,
    factor_type: 'totp',
    secret: encrypt(totpSecret, factorId),
  })
  const damagedId = randomUUID()
  await writer.insert('mfa_factors', {
    ...factor,
    id: damagedId,
    user_id: ada.id,
    friendly_name: 'damaged',
    factor_type: 'totp',
    secret: encrypt(totpSecret, factorId),
  })
  const sessionKey = randomBytes(32)
  const sessionId = await writer.session(ada.id, { refresh_token_counter: 7 })
  await source.client.query('update sessions set refresh_token_hmac_key = $2 where id = $1', [
    sessionId,
    encrypt(sessionKey.toString('base64url'), sessionId),
  ])

  const missing = await run(source.url)
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /encrypts secrets with the key "k1".+--decryption-key k1=KEY/)
  const short = await run(source.url, '--decryption-key', 'k1=c2hvcnQ')
  assert.match(short.stderr, /A decryption key must be ID=KEY.+check the key "k1"/)
  const reportOf = ({ stdout }: { readonly stdout: string }, name: string) =>
    JSON.parse(stdout).tables.find(({ table }: { table: string }) => table === name)
  const wrongKey = `k1=${randomBytes(32).toString('base64url')}`
  const wrong = await run(source.url, '--json', '--dry-run', '--decryption-key', wrongKey)
  assert.deepEqual(reportOf(wrong, 'users').skipped['invalid secret'].examples, [ada.id])
  const file = join(await makeFolder(t), 'auth.env')
  const variable = 'GOTRUE_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'
  await writeFile(file, `${variable}=k1:${key.toString('base64url')}\n`)
  const inFile = await run(source.url, '--json', '--dry-run', '--config', file)
  assert.deepEqual(reportOf(inFile, 'users').skipped, {})
  const decrypted = await run(
    source.url,
    '--json',
    '--decryption-key',
    `k1=${key.toString('base64url')}`,
  )
  assert.equal(decrypted.code, 0, decrypted.stderr + decrypted.stdout)
  const { skipped } = reportOf(decrypted, 'mfa_factors')
  assert.deepEqual(skipped['invalid secret'].examples, [damagedId])

  const post = (path: string, body: object, token?: string) =>
    send(server.url, path, { body, ...(token !== undefined && { token }) })
  const refreshed = await post('/token?grant_type=refresh_token', {
    refresh_token: signToken(sessionId, 7, sessionKey),
  })
  assert.equal(refreshed.status, 200, JSON.stringify(refreshed.body))
  const { body } = await post('/token?grant_type=password', {
    email: 'ada@source.example',
    password: sourcePassword,
  })
  const challenge = await post(`/factors/${factorId}/challenge`, {}, body.access_token)
  const code = createApp(totpSecret, server.clock).nextCode()
  const sent = { challenge_id: challenge.body.id, code }
  assert.equal((await post(`/factors/${factorId}/verify`, sent, body.access_token)).status, 200)
  const [{ secret }] = await server.query('select secret from mfa_factors where id = $1', [
    factorId,
  ])
  assert.ok(!secret.includes(Buffer.from(Secret.fromBase32(totpSecret).bytes)))
  const [stored] = await server.query('select sealed_key from imported_session_keys limit 1')
  assert.ok(!stored.sealed_key.includes(sessionKey))
})
