/**
 * @legs safety
 * @servers postgres
 * @slow
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import {
  openProgramEnvironment,
  runAuth,
  type StartedAuth,
  startAuth,
} from '../support/auth-program.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { newEmail, password, send } from '../support/http-client.ts'
import { openConnection } from '../support/kept-connection.ts'

/** Process ids of the serving workers by number; a replaced worker is not included. */
function toPids({ output }: StartedAuth): ReadonlyMap<string, number> {
  const lines = [...output().matchAll(/Worker (\d+) \(pid (\d+)\) is ready/g)]
  return new Map(lines.map(([, number = '', pid]) => [number, Number(pid)]))
}

async function waitFor(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10)
}

/** Blocks all access to the table users until it is released. */
async function blockUsers(t: TestContext, env: Readonly<Record<string, string>>) {
  const client = new Client({ connectionString: env['DATABASE_URL'] })
  await client.connect()
  t.after(() => client.end())
  const table = `${env['AUTH_DB_NAMESPACE']}.users`
  await client.query(`begin; lock table ${table}`)
  return {
    release: () => client.query('commit'),
    async waiting(): Promise<void> {
      const waits = `select 1 from pg_locks where not granted and relation = '${table}'::regclass`
      while ((await client.query(waits)).rows.length === 0) await sleep(10)
    },
  }
}

test('workers share a port, a killed worker is replaced, and SIGTERM lets running requests finish', async (t) => {
  const env = await openProgramEnvironment(t)
  if (!env) return
  const server = await startAuth(t, ['up'], { ...env, WORKERS: '2' })
  assert.match(server.output(), /Listening on .* with 2 workers, compatibility mode auto \(/)
  assert.equal(server.output().match(/Applied migration 0001-init/g)?.length, 1)
  const connections = Array.from({ length: 4 }, () => openConnection(t, server.url))
  for (const connection of connections) {
    assert.equal((await connection.send('/health')).status, 200)
  }

  const lanes = 3
  let isLoaded = true
  let failed = 0
  const load = Array.from({ length: lanes }, async () => {
    while (isLoaded) {
      const { status } = await openConnection(t, server.url)
        .send('/settings')
        .catch(() => ({ status: 0 }))
      if (status !== 200) failed += 1
      await sleep(10)
    }
  })
  const first = toPids(server).get('1') ?? 0
  assert.ok(first > 1)
  process.kill(first, 'SIGKILL')
  const gone = new Set<number>()
  for (const [index, { closed }] of connections.entries()) {
    void closed.then(() => gone.add(index))
  }
  await waitFor(() => gone.size >= 2 && toPids(server).get('1') !== first)
  isLoaded = false
  await Promise.all(load)
  // At most the one running request per connection can fail.
  assert.ok(failed <= lanes, `${failed} requests failed`)
  assert.match(
    server.output(),
    /Worker 1 \(pid \d+\) was lost: killed by SIGKILL; starting a replacement/,
  )
  for (const [index, connection] of connections.entries()) {
    if (!gone.has(index)) assert.equal((await connection.send('/health')).status, 200)
  }
  assert.equal(gone.size, 2, 'each worker had two connections')

  const { release, waiting } = await blockUsers(t, env)
  const connection = openConnection(t, server.url)
  const signup = connection.send('/signup', { email: newEmail(), password })
  await waiting()
  const ended = server.stop('SIGTERM')
  await assert.rejects(async () => {
    for (;;) await openConnection(t, server.url).send('/health')
  })
  await release()
  const { status, headers } = await signup
  assert.deepEqual([status, headers.connection], [200, 'close'])
  assert.equal(await ended, 0)
})

test('a limit applies to all workers together, and a second signal stops them at once', async (t) => {
  const env = await openProgramEnvironment(t)
  if (!env) return
  const server = await startAuth(t, ['up'], { ...env, WORKERS: '2', AUTH_RATE_LIMIT_OTP: '20' })
  const [one, other] = [openConnection(t, server.url), openConnection(t, server.url)]
  await Promise.all([one.send('/health'), other.send('/health')])
  // Each address has its own limit, so a new one is used for each request.
  const recover = () => ({ email: newEmail() })
  let atOne = 0
  while ((await one.send('/recover', recover())).status === 200) atOne += 1
  // One request is allowed again every 15 seconds.
  assert.ok(atOne >= 20 && atOne < 25, `${atOne} passed`)
  let atOther = 0
  while ((await other.send('/recover', recover())).status === 200) {
    atOther += 1
    await sleep(100)
  }
  assert.ok(atOther < 20, 'the other worker did not know the count')

  const { waiting } = await blockUsers(t, env)
  const signup = one.send('/signup', { email: newEmail(), password })
  const lost = assert.rejects(signup)
  await waiting()
  const ended = server.stop('SIGTERM')
  await waitFor(() => server.output().includes('Received SIGTERM'))
  void server.stop('SIGTERM')
  // The promise resolves when the last process has closed the log.
  assert.equal(await ended, 143)
  await lost
})

test('a failure to start workers is logged once', async (t) => {
  const env = await openProgramEnvironment(t)
  if (!env) return
  const occupant = createServer().listen(0, '127.0.0.1')
  await once(occupant, 'listening')
  t.after(() => occupant.close())
  const bound = occupant.address()
  assert.ok(typeof bound === 'object' && bound !== null)
  const unreachable = 'postgres://u:hidden-word@127.0.0.1:1/x'
  const [busy, lost] = await Promise.all([
    runAuth(['up'], { env: { ...env, WORKERS: '2', PORT: `${bound.port}`, AUTH_API_PORT: '' } }),
    runAuth(['serve'], { env: { ...testEnvironment, WORKERS: '2', DATABASE_URL: unreachable } }),
  ])
  const fatal = ({ stderr }: typeof busy) => stderr.match(/^.*"level":"fatal".*$/gm) ?? []
  assert.deepEqual([busy.code, fatal(busy).length], [1, 1])
  assert.match(fatal(busy)[0] ?? '', /The port is in use .*set AUTH_API_PORT/)
  assert.deepEqual([lost.code, fatal(lost).length], [1, 1])
  assert.match(fatal(lost)[0] ?? '', /PostgreSQL cannot be reached .*ECONNREFUSED/)
  assert.doesNotMatch(lost.stderr, /hidden-word/)
})

test('four servers that start concurrently on one empty database all serve and apply each file once', async (t) => {
  const env = await openProgramEnvironment(t)
  if (!env) return
  const servers = await Promise.all(
    ['1', '1', '1', '2'].map((workers) => startAuth(t, ['up'], { ...env, WORKERS: workers })),
  )
  const email = newEmail()
  const [maker, ...others] = servers
  assert.ok(maker)
  const made = await send(maker.url, '/signup', { body: { email, password } })
  assert.equal(made.status, 200)
  for (const { url } of others) {
    const headers = { authorization: `Bearer ${made.body.access_token}` }
    assert.equal((await send(url, '/user', { headers })).body.email, email)
  }
  const applied = servers.flatMap(({ output }) => output().match(/Applied migration [\w-]+/g) ?? [])
  assert.ok(applied.length > 2)
  assert.equal(new Set(applied).size, applied.length)

  // The log ends with the workers, so they do not outlive the process that started them.
  assert.equal(await servers[3]?.stop('SIGKILL'), null)
})
