/**
 * @legs safety
 * @servers redis, memcached, postgres, postgres-embedded, pgbouncer, redis-sentinel, redis-cluster
 */

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { open, type PostgresServer, provideProgram } from '../src/index.ts'
import { redisCommand } from '../src/redis-command.ts'
import { openSandbox } from '../src/sandbox.ts'
import { PortTakenError } from '../src/server-process.ts'
import { startRedis } from '../src/servers/redis.ts'
import { waitFor } from '../src/wait-for.ts'
import { ping } from './support/pings.ts'
import { queryPostgres } from './support/postgres-query.ts'
import { isListening } from './support/sockets.ts'

for (const name of ['redis', 'memcached', 'postgres', 'postgres-embedded', 'pgbouncer'] as const) {
  test(`${name} can be killed, shut down, restarted on its port, paused and resumed`, async (t) => {
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
    if (name.startsWith('postgres')) {
      await t.test('a connected client gets no response while it is paused', () =>
        assertFreezesSessions(server as PostgresServer),
      )
    }
    server.pause()
    await server.stop()
    assert.equal(await isListening(server.port), false)
  })
}

/**
 * PostgreSQL has a process for each client. The query of this client ends once a file exists, and
 * the file is written while the server is paused: a process that was not paused would answer.
 */
async function assertFreezesSessions(server: PostgresServer): Promise<void> {
  const isThere = "(pg_stat_file('go', true)).size is not null"
  const loop = `while not ${isThere} loop perform pg_sleep(0.01); end loop`
  const answer = queryPostgres(server, `do $$ begin ${loop}; end $$`).then(() => 'answered')
  const sessions =
    "select count(*) from pg_stat_activity where query like 'do %' and state = 'active'"
  const isRunning = async () => (await queryPostgres(server, sessions))[0] === '1'
  await waitFor('the query did not run', isRunning)
  server.pause()
  await writeFile(join(server.folder, 'data', 'go'), '')
  assert.equal(await Promise.race([answer, sleep(300, 'silent')]), 'silent')
  server.resume()
  assert.equal(await answer, 'answered')
}

test('the sentinels promote the replica when the master dies', async (t) => {
  const setup = await open(t, 'redis-sentinel')
  if (!setup) return
  const { master, replica, masterName, sentinels } = setup
  await redisCommand(master, 'SET', 'kept', 'yes')
  const isReplicated = async () => (await redisCommand(replica, 'GET', 'kept')) === 'yes'
  await waitFor('the replica does not have the value', isReplicated)
  await master.kill()
  for (const sentinel of sentinels) {
    await waitFor('the sentinel does not name the replica', async () => {
      const found = await redisCommand(sentinel, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName)
      return `${found}` === `127.0.0.1,${replica.port}`
    })
  }
  assert.equal(await redisCommand(replica, 'SET', 'written', 'after'), 'OK')
  assert.equal(await redisCommand(replica, 'GET', 'kept'), 'yes')
})

test('a cluster that loses a master reports it', async (t) => {
  const cluster = await open(t, 'redis-cluster')
  if (!cluster) return
  const [first, second] = cluster.nodes
  assert.ok(first && second)
  await first.kill()
  await waitFor('the cluster still claims to be complete', async () => {
    const info = await redisCommand(second, 'CLUSTER', 'INFO')
    return `${info}`.includes('cluster_state:fail')
  })
  await assert.rejects(redisCommand(second, 'SET', 'c', '1'), /CLUSTERDOWN/)
})

test('a server whose port is taken reports it, and the other server is not affected', async (t) => {
  const other = await open(t, 'redis')
  if (!other) return
  const program = await provideProgram('redis-server')
  const sandbox = await openSandbox('redis')
  t.after(() => sandbox[Symbol.asyncDispose]())
  await assert.rejects(startRedis(sandbox, { program, port: other.port }), PortTakenError)
  await ping('redis', other)
})

test('a Redis server with a password refuses clients without it', async (t) => {
  const redis = await open(t, 'redis', { password: 'p:ss word', args: ['--maxmemory', '10mb'] })
  if (!redis) return
  const { port, url } = redis
  assert.equal(url, `redis://:p%3Ass%20word@127.0.0.1:${port}`)
  await assert.rejects(redisCommand({ port }, 'PING'), /NOAUTH/)
  const settings = await redisCommand({ port, password: 'p:ss word' }, 'CONFIG', 'GET', 'maxmemory')
  assert.deepEqual(settings, ['maxmemory', '10485760'])
})
