/**
 * @servers redis, memcached
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createAuthority, findFreePort, open } from '@portcullis/test-servers'
import { parseConfig } from '../../src/config/config.ts'
import { command as commandMemcached } from '../counters/memcached/support/memcached-client.ts'
import { command } from '../counters/redis/support/redis-client.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient, postJson } from '../support/service-client.ts'
import { until } from '../support/service-process.ts'

const rules = `
domain: d
descriptors:
  - { key: day, rate_limit: { unit: day, requests_per_unit: 9 } }
  - { key: second, rate_limit: { unit: second, requests_per_unit: 9 } }
`

/** One decision of a service with these variables: the remaining hits of a limit per day and per second. */
async function decideOnce(t: TestContext, env: Readonly<Record<string, string>>) {
  const service = await openService(t, { rules, env })
  const client = await openDecisionClient(t, service)
  const { statuses } = await client.decide(
    requestFor('d', descriptor('day=v'), descriptor('second=v')),
  )
  await service.stop()
  return statuses.map(({ limitRemaining }) => limitRemaining)
}

test('KVSTORE_AUTH and KVSTORE_PERSECOND_AUTH are a password, or a user name and a password', async (t) => {
  const main = await open(t, 'redis', { password: 'sesame' })
  const perSecond = await open(t, 'redis')
  if (!main || !perSecond) return
  await command(perSecond, 'ACL', 'SETUSER', 'counter', 'on', '>open', '~*', '+@all')
  const env = {
    KVSTORE_URL: `127.0.0.1:${main.port}`,
    KVSTORE_AUTH: 'sesame',
    KVSTORE_PERSECOND: 'true',
    KVSTORE_PERSECOND_URL: `127.0.0.1:${perSecond.port}`,
    KVSTORE_PERSECOND_AUTH: 'counter:open',
  }
  assert.deepEqual(await decideOnce(t, env), [8, 8])
  const users = `${await command(perSecond, 'ACL', 'LOG')}`
  assert.equal(users, '', 'no authentication failed')
  const wrong = { KVSTORE_STARTUP_MAX_ELAPSED_TIME: '1ms', KVSTORE_AUTH: 'wrong' }
  await assert.rejects(decideOnce(t, { ...env, ...wrong }), /WRONGPASS/)
  const foreign = { KVSTORE_STARTUP_MAX_ELAPSED_TIME: '1ms', KVSTORE_PERSECOND_AUTH: 'counter:no' }
  await assert.rejects(decideOnce(t, { ...env, ...foreign }), /WRONGPASS/)
})

test('KVSTORE_TLS and its files verify the server and present a client certificate', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const authority = createAuthority('stores')
  const [server, other, own] = ['127.0.0.1', 'redis.example', 'ratelimit'].map((name) =>
    authority.issue(name),
  )
  const path = (name: string) => join(redis.folder, name)
  const tlsPort = await findFreePort()
  const use = async (identity = server) => {
    await writeFile(path('server.pem'), identity?.certificate ?? '')
    await writeFile(path('server.key'), identity?.key ?? '')
    const settings = {
      'tls-cert-file': path('server.pem'),
      'tls-key-file': path('server.key'),
      'tls-ca-cert-file': path('ca.pem'),
      'tls-port': `${tlsPort}`,
    }
    await command(redis, 'CONFIG', 'SET', ...Object.entries(settings).flat())
  }
  await writeFile(path('ca.pem'), authority.certificate)
  await writeFile(path('own.pem'), own?.certificate ?? '')
  await writeFile(path('own.key'), own?.key ?? '')
  await use(server)
  const url = `127.0.0.1:${tlsPort}`
  const env = {
    KVSTORE_URL: url,
    KVSTORE_TLS: 'true',
    KVSTORE_TLS_CACERT: path('ca.pem'),
    KVSTORE_TLS_CLIENT_CERT: path('own.pem'),
    KVSTORE_TLS_CLIENT_KEY: path('own.key'),
    KVSTORE_STARTUP_MAX_ELAPSED_TIME: '1ms',
  }
  assert.equal((await decideOnce(t, env))[0], 8)
  const apart = {
    KVSTORE_URL: `127.0.0.1:${redis.port}`,
    KVSTORE_TLS: 'false',
    KVSTORE_PERSECOND: 'true',
    KVSTORE_PERSECOND_URL: url,
    KVSTORE_PERSECOND_TLS: 'true',
  }
  assert.equal((await decideOnce(t, { ...env, ...apart }))[0], 7)
  const { KVSTORE_TLS_CACERT: _ca, ...unverified } = env
  await assert.rejects(decideOnce(t, unverified), /unable to|self-signed/)
  await use(other)
  await assert.rejects(decideOnce(t, env), /does not match certificate's altnames/)
  const anyName = { KVSTORE_TLS_SKIP_HOSTNAME_VERIFICATION: 'true' }
  assert.equal((await decideOnce(t, { ...env, ...anyName }))[0], 6)
})

test('KVSTORE_SOCKET_TYPE=unix reaches the store through a socket file', async (t) => {
  const redis = await open(t, 'redis', { args: ['--unixsocket', 'redis.sock'] })
  if (!redis) return
  const env = {
    KVSTORE_SOCKET_TYPE: 'unix',
    KVSTORE_URL: join(redis.folder, 'redis.sock'),
    KVSTORE_POOL_SIZE: '3',
  }
  assert.deepEqual(await decideOnce(t, env), [8, 8])
  const perSecond = {
    KVSTORE_SOCKET_TYPE: 'tcp',
    KVSTORE_URL: `127.0.0.1:${redis.port}`,
    KVSTORE_PERSECOND: 'true',
    KVSTORE_PERSECOND_SOCKET_TYPE: 'unix',
    KVSTORE_PERSECOND_URL: env.KVSTORE_URL,
  }
  assert.equal((await decideOnce(t, perSecond))[0], 7)
})

test('without KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION a lost store leaves the service healthy', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const env = { KVSTORE_URL: `127.0.0.1:${redis.port}` }
  const service = await openService(t, { rules, env })
  const checked = await openService(t, {
    rules,
    env: { ...env, KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION: 'true' },
  })
  const health = async ({ httpUrl }: { readonly httpUrl: string }) =>
    (await fetch(`${httpUrl}/healthcheck`)).status
  assert.deepEqual([await health(service), await health(checked)], [200, 200])
  await redis.kill()
  await until(
    async () => (await health(checked)) === 500,
    () => 'the service with the check was unhealthy',
  )
  const client = await openDecisionClient(t, service)
  assert.notEqual((await client.tryDecide(requestFor('d', descriptor('day=v')))).code, 0)
  assert.equal(await health(service), 200)
})

test('every variable of the key-value store is read, for both instances', () => {
  const { config, faults } = parseConfig({
    KVSTORE_URL: 'main:1',
    KVSTORE_POOL_SIZE: '3',
    KVSTORE_PIPELINE_WINDOW: '2ms',
    KVSTORE_PIPELINE_LIMIT: '5',
    KVSTORE_PERSECOND: 'true',
    KVSTORE_PERSECOND_URL: 'second:2,third:3',
    KVSTORE_PERSECOND_TYPE: 'cluster',
    KVSTORE_PERSECOND_SOCKET_TYPE: 'tcp',
    KVSTORE_PERSECOND_POOL_SIZE: '4',
    KVSTORE_PERSECOND_PIPELINE_WINDOW: '3ms',
    KVSTORE_PERSECOND_PIPELINE_LIMIT: '6',
    KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION: 'true',
  })
  assert.deepEqual(faults, [])
  const { store } = config
  assert.ok(store.kind === 'redis' && store.perSecond !== undefined)
  const { main, perSecond, checksConnection } = store
  assert.deepEqual(
    [main.type, main.url, main.poolSize, main.pipelineWindowMs, main.pipelineLimit],
    ['single', 'main:1', 3, 2, 5],
  )
  assert.deepEqual(
    [perSecond.type, perSecond.url, perSecond.poolSize, perSecond.socketType],
    ['cluster', 'second:2,third:3', 4, 'tcp'],
  )
  assert.deepEqual([perSecond.pipelineWindowMs, perSecond.pipelineLimit], [3, 6])
  assert.equal(checksConnection, true)
})

test('DISTCACHE_MAX_IDLE_CONNS is 2 by default, and DISTCACHE_SRV_REFRESH takes every suffix', () => {
  const storeOf = (env: Readonly<Record<string, string>>) => {
    const { config, faults } = parseConfig({ BACKEND_TYPE: 'distcache', ...env })
    assert.deepEqual(faults, [])
    assert.ok(config.store.kind === 'memcached')
    return config.store
  }
  const list = { DISTCACHE_HOST_PORT: 'a:1' }
  assert.equal(storeOf(list).maxIdleConnections, 2)
  assert.equal(storeOf({ ...list, DISTCACHE_MAX_IDLE_CONNS: '7' }).maxIdleConnections, 7)
  const refreshes = { '5': 5_000, '5ns': 0.000_005, '5us': 0.005, '5ms': 5, '5s': 5_000 }
  for (const [text, refreshMs] of Object.entries({
    ...refreshes,
    '5m': 300_000,
    '5h': 18_000_000,
  })) {
    const env = { DISTCACHE_SRV: '_m._tcp.example.org', DISTCACHE_SRV_REFRESH: text }
    const { nodes } = storeOf(env)
    assert.ok(nodes.kind === 'srv')
    assert.ok(Math.abs(nodes.refreshMs - refreshMs) < 1e-9, `${text}: ${nodes.refreshMs}`)
  }
})

test('with the distributed memory cache', async (t) => {
  const nodes = await Promise.all([open(t, 'memcached'), open(t, 'memcached')])
  const ports = nodes.flatMap((node) => node?.port ?? [])
  if (ports.length < 2) return
  const env = {
    BACKEND_TYPE: 'distcache',
    DISTCACHE_HOST_PORT: ports.map((port) => `127.0.0.1:${port}`).join(','),
  }
  const [one, other] = [await openService(t, { rules, env }), await openService(t, { rules, env })]
  const client = await openDecisionClient(t, one)

  await t.test('instances with the same node list count together on all its nodes', async (t) => {
    const values = Array.from({ length: 20 }, (_, index) => `day=v${index}`)
    const all = requestFor('d', ...values.map((value) => descriptor(value)))
    const second = await openDecisionClient(t, other)
    const read = requestFor('d', ...values.map((value) => descriptor(value, { hitsAddend: 0 })))
    // The counts are written after the response, so the other instance may see them slightly later.
    await until(
      async () => {
        await client.decide(all)
        const { statuses } = await second.decide(read)
        return statuses.every(({ limitRemaining }) => limitRemaining < 9)
      },
      () => 'the other instance saw every count',
      120_000,
    )
    for (const port of ports) {
      assert.match(await commandMemcached(port, 'stats'), /STAT curr_items [1-9]/)
    }
  })

  await t.test('a descriptor with a key of more than 250 characters fails the call', async () => {
    // With exact names, the default, no descriptor does, because long names are replaced by a hash.
    const long = 'x'.repeat(250)
    assert.equal((await client.tryDecide(requestFor('d', descriptor(`day=${long}`)))).code, 0)
    const compatible = { ...env, CACHE_KEY_FORMAT: 'compatible' }
    const old = await openService(t, { rules, env: compatible })
    const oldClient = await openDecisionClient(t, old)
    const { code, message } = await oldClient.tryDecide(requestFor('d', descriptor(`day=${long}`)))
    assert.notEqual(code, 0)
    assert.match(message, /key is too long/)
    const body = { domain: 'd', descriptors: [{ entries: [{ key: 'day', value: long }] }] }
    assert.equal((await postJson(old, JSON.stringify(body))).status, 400)
    const fits = await oldClient.tryDecide(requestFor('d', descriptor(`day=${'x'.repeat(200)}`)))
    assert.equal(fits.code, 0)
  })
})
