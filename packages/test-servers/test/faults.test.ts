/**
 * @legs safety
 * @servers redis, memcached, postgres, postgres-embedded, redis-sentinel, redis-cluster
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { open, provideProgram } from '../src/index.ts'
import { redisCommand } from '../src/redis-command.ts'
import { openSandbox } from '../src/sandbox.ts'
import { PortTakenError } from '../src/server-process.ts'
import { startRedis } from '../src/servers/redis.ts'
import { waitFor } from '../src/wait-for.ts'
import { ping } from './support/pings.ts'
import { queryPostgres } from './support/postgres-query.ts'
import { isListening } from './support/sockets.ts'

/** Only for a test that fails: a busy machine takes its time. */
const patienceMs = 120_000

for (const name of ['redis', 'memcached', 'postgres', 'postgres-embedded'] as const) {
  test(`${name} can be killed, shut down, restarted on its port, frozen and thawed`, async (t) => {
    const server = await open(t, name)
    if (!server) return
    await server.kill()
    assert.equal(await isListening(server.port), false)
    await server.restart()
    await ping(name, server)

    server.pause()
    const answer = ping(name, server).then(() => 'answered')
    assert.equal(await Promise.race([answer, sleep(200, 'silent')]), 'silent')
    server.resume()
    assert.equal(await answer, 'answered')

    await server.shutDown()
    assert.equal(await isListening(server.port), false)
    await server.restart()
    await ping(name, server)
    server.pause()
    await server.stop()
    assert.equal(await isListening(server.port), false)
  })
}

for (const name of ['postgres', 'postgres-embedded'] as const) {
  test(`${name}: who is connected gets no answer either while it is frozen`, async (t) => {
    const server = await open(t, name)
    if (!server) return
    const waiting = "select count(*) from pg_stat_activity where wait_event = 'PgSleep'"
    const freezeSleeping = async () => {
      const answer = queryPostgres(server, 'select pg_sleep(1)').then(() => 'answered')
      const isSleeping = async () => (await queryPostgres(server, waiting))[0] === '1'
      const seen = waitFor('nobody sleeps', isSleeping, patienceMs).then(() => 'sleeping')
      if ((await Promise.race([answer, seen])) !== 'sleeping') return undefined
      server.pause()
      // An answer that left the server before it was frozen is there by now.
      if ((await Promise.race([answer, sleep(50, 'silent')])) === 'silent') return { answer }
      server.resume()
      return undefined
    }
    let frozen = await freezeSleeping()
    // On a busy machine the query may have ended before the server was frozen.
    while (frozen === undefined) frozen = await freezeSleeping()
    const { answer } = frozen
    assert.equal(await Promise.race([answer, sleep(1_300, 'silent')]), 'silent')
    server.resume()
    assert.equal(await answer, 'answered')
    server.pause()
    await server.stop()
    assert.equal(await isListening(server.port), false)
  })
}

test('the sentinels make the replica the master when the master dies', async (t) => {
  const setup = await open(t, 'redis-sentinel')
  if (!setup) return
  const { master, replica, masterName, sentinels } = setup
  await redisCommand(master, 'SET', 'kept', 'yes')
  const isReplicated = async () => (await redisCommand(replica, 'GET', 'kept')) === 'yes'
  await waitFor('the replica does not have the value', isReplicated, patienceMs)
  await master.kill()
  for (const sentinel of sentinels) {
    await waitFor(
      'the sentinel does not name the replica',
      async () => {
        const found = await redisCommand(
          sentinel,
          'SENTINEL',
          'GET-MASTER-ADDR-BY-NAME',
          masterName,
        )
        return `${found}` === `127.0.0.1,${replica.port}`
      },
      patienceMs,
    )
  }
  assert.equal(await redisCommand(replica, 'SET', 'written', 'after'), 'OK')
  assert.equal(await redisCommand(replica, 'GET', 'kept'), 'yes')
})

test('a cluster that loses a master says so', async (t) => {
  const cluster = await open(t, 'redis-cluster')
  if (!cluster) return
  const [first, second] = cluster.nodes
  assert.ok(first && second)
  await first.kill()
  await waitFor(
    'the cluster still claims to be complete',
    async () => {
      const info = await redisCommand(second, 'CLUSTER', 'INFO')
      return `${info}`.includes('cluster_state:fail')
    },
    patienceMs,
  )
  await assert.rejects(redisCommand(second, 'SET', 'c', '1'), /CLUSTERDOWN/)
})

test('a server that finds its port taken says so, and the other server is left alone', async (t) => {
  const other = await open(t, 'redis')
  if (!other) return
  const program = await provideProgram('redis-server')
  const sandbox = await openSandbox('redis')
  t.after(() => sandbox[Symbol.asyncDispose]())
  await assert.rejects(startRedis(sandbox, { program, port: other.port }), PortTakenError)
  await ping('redis', other)
})

test('a Redis with a password refuses those who do not know it', async (t) => {
  const redis = await open(t, 'redis', { password: 'p:ss word', args: ['--maxmemory', '10mb'] })
  if (!redis) return
  const { port, url } = redis
  assert.equal(url, `redis://:p%3Ass%20word@127.0.0.1:${port}`)
  await assert.rejects(redisCommand({ port }, 'PING'), /NOAUTH/)
  const settings = await redisCommand({ port, password: 'p:ss word' }, 'CONFIG', 'GET', 'maxmemory')
  assert.deepEqual(settings, ['maxmemory', '10485760'])
})
