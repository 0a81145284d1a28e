/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCommand } from '../support/auth-command.ts'
import { openProgramEnvironment, runAuth, startAuth } from '../support/auth-program.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'

test('migrate applies missing migrations and reports when there are none', async (t) => {
  const env = await openProgramEnvironment(t)
  if (!env) return
  const first = await runAuth(['migrate'], { env })
  assert.deepEqual([first.code, first.stderr], [0, ''])
  assert.match(first.stdout, /^applied 0001-init\n/)
  const second = await runCommand(['migrate'], { env })
  assert.deepEqual(second, { code: 0, stdout: 'The tables are up to date.\n', stderr: '' })
})

test('migrate --print-grants names the user of the URL, wherever the URL has it', async () => {
  for (const url of ['postgres://ada:a@b@db.example/app', 'postgres://db.example/app?user=ada']) {
    const env = { ...testEnvironment, DATABASE_URL: url }
    const { code, stdout } = await runCommand(['migrate', '--print-grants', 'server'], { env })
    assert.equal(code, 0)
    assert.match(stdout, /^alter default privileges for role "ada" /m)
  }
})

test('concurrent migrate commands on one empty database all succeed and apply each file once', async (t) => {
  const env = await openProgramEnvironment(t)
  if (!env) return
  const ended = await Promise.all([1, 2, 3].map(() => runCommand(['migrate'], { env })))
  for (const { code, stderr } of ended) {
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^(?:Waiting for .+\n)*$/)
  }
  const applied = ended.flatMap(({ stdout }) => stdout.match(/^applied 0001-init$/gm) ?? [])
  assert.equal(applied.length, 1)
})

test('migrate reports in one line that PostgreSQL is unreachable, without the password', async () => {
  const { code, stderr } = await runCommand(['migrate'], {
    env: { ...testEnvironment, DATABASE_URL: 'postgres://u:hidden-word@127.0.0.1:1/x' },
  })
  assert.equal(code, 1)
  assert.match(stderr, /^The migration failed: .*ECONNREFUSED.*\n$/)
  assert.doesNotMatch(stderr, /hidden-word/)
})

test('a wrong password or a missing database is reported with what to check', async (t) => {
  const env = await openProgramEnvironment(t)
  if (!env) return
  const url = new URL(env['DATABASE_URL'] ?? '')
  url.pathname = '/there_is_no_such_database'
  const { code, stderr } = await runCommand(['migrate'], {
    env: { ...env, DATABASE_URL: url.href },
  })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /PostgreSQL refused the connection \(database .* does not exist\): check the user,/,
  )
})

test('without a command the server migrates, serves, and drains on SIGTERM', async (t) => {
  const env = await openProgramEnvironment(t)
  if (!env) return
  const server = await startAuth(t, [], { ...env, AUTH_OPERATOR_TOKEN: 'hidden-word' })
  const { status, body } = await send(server.url, '/signup', {
    body: { email: newEmail(), password },
  })
  assert.deepEqual([status, typeof body.access_token], [200, 'string'])
  assert.match(server.output(), /Applied migration 0001-init/)
  assert.match(server.output(), /AUTH_OPERATOR_TOKEN is deprecated/)
  assert.match(server.output(), /Listening on [^"]*, compatibility mode \w+ \([^)]+\)/)
  assert.equal(await server.stop('SIGTERM'), 0)
  assert.doesNotMatch(server.output(), /hidden-word|at least thirty-two bytes/)
})

test('serve does not migrate, and exits if the tables are missing', async (t) => {
  const env = await openProgramEnvironment(t)
  if (!env) return
  const { code, stderr } = await runAuth(['serve'], { env })
  assert.equal(code, 1)
  assert.match(stderr, /The tables do not exist .*: run auth migrate first\./)
})

test('AUTH_LOG_FILE receives the log, and a file that cannot be opened stops the start', async (t) => {
  const env = await openProgramEnvironment(t)
  if (!env) return
  const folder = mkdtempSync(join(tmpdir(), 'auth-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const wrong = { ...env, AUTH_LOG_FILE: join(folder, 'none/auth.log') }
  const { code, stderr } = await runCommand(['up'], { env: wrong })
  assert.equal(code, 2)
  assert.match(
    stderr,
    /^The server cannot start: AUTH_LOG_FILE=".*auth\.log" cannot be opened: .*\n$/,
  )

  const path = join(folder, 'auth.log')
  const ended = await runAuth(['serve'], { env: { ...env, AUTH_LOG_FILE: path } })
  assert.deepEqual([ended.code, ended.stderr], [1, ''])
  assert.match(readFileSync(path, 'utf8'), /The tables do not exist/)
})

test('everything runs on an embedded PostgreSQL, which only one server can use at a time', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'auth-embedded-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const env = { ...testEnvironment, DATABASE_URL: `embedded://${join(folder, 'data')}` }
  const created = newEmail()
  assert.equal((await runCommand(['migrate'], { env })).code, 0)
  const made = await runCommand(['admin', 'createuser', created, password], { env })
  assert.deepEqual([made.code, made.stderr], [0, ''])
  const server = await startAuth(t, ['up'], env)
  const login = { body: { email: created, password } }
  assert.equal((await send(server.url, '/token?grant_type=password', login)).status, 200)
  // Commands use the PostgreSQL of the running server; a second server cannot.
  const added = newEmail()
  const beside = await runCommand(['admin', 'createuser', added, password, '--confirm'], { env })
  assert.deepEqual([beside.code, beside.stderr], [0, ''])
  const second = { body: { email: added, password } }
  assert.equal((await send(server.url, '/token?grant_type=password', second)).status, 200)
  assert.equal((await runCommand(['migrate'], { env })).code, 0)
  const another = await runAuth(['serve'], { env })
  assert.equal(another.code, 1)
  assert.match(another.stderr, /is in use by the process \d+/)
  assert.equal(await server.stop('SIGTERM'), 0, server.output())
  // Connections are closed before PostgreSQL stops, so no errors are logged.
  assert.doesNotMatch(server.output(), /Lost a connection|FATAL/)
})
