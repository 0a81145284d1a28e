import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../src/config/config.ts'
import type { RedisConfig } from '../../src/counters/redis/variables.ts'

type Env = Readonly<Record<string, string>>

function faultsOf(env: Env): string[] {
  return parseConfig(env).faults.map(toFaultText)
}

function redisOf(env: Env): RedisConfig {
  const { store } = parseConfig(env).config
  assert.ok(store.kind === 'redis')
  return store
}

const choices: readonly (readonly [Env, string])[] = [
  [{}, 'memory'],
  [{ BACKEND_TYPE: '' }, 'memory'],
  [{ BACKEND_TYPE: 'memory', KVSTORE_URL: 'localhost:6379' }, 'memory'],
  [{ BACKEND_TYPE: 'redis' }, 'redis'],
  [{ BACKEND_TYPE: 'kvstore' }, 'redis'],
  [{ BACKEND_TYPE: '', REDIS_URL: 'localhost:6379' }, 'redis'],
  [{ KVSTORE_URL: 'localhost:6379' }, 'redis'],
  [{ REDIS_SOCKET_TYPE: 'unix' }, 'redis'],
  [{ REDIS_PERSECOND_URL: 'localhost:6379' }, 'redis'],
  [{ BACKEND_TYPE: 'memcache', MEMCACHE_HOST_PORT: 'a:11211' }, 'memcached'],
  [{ BACKEND_TYPE: 'distcache', DISTCACHE_HOST_PORT: 'a:11211', REDIS_URL: 'b:1' }, 'memcached'],
]
for (const [env, kind] of choices) {
  test(`${JSON.stringify(env)} counts in ${kind}`, () => {
    const { config, faults } = parseConfig(env)
    assert.deepEqual([config.store.kind, faults], [kind, []])
  })
}

test('the memory store is marked as the default only if it was not configured', () => {
  assert.deepEqual(parseConfig({ BACKEND_TYPE: 'memory' }).config.store, {
    kind: 'memory',
    isDefault: false,
    maxBytes: 2 ** 30,
  })
})

test('settings of an unused store cause a warning', () => {
  assert.deepEqual(parseConfig({ BACKEND_TYPE: 'memory', REDIS_URL: 'a:1' }).notes, [
    'REDIS_URL has no effect: BACKEND_TYPE is memory',
  ])
  assert.deepEqual(parseConfig({ MEMCACHE_HOST_PORT: 'a:1' }).notes, [
    'MEMCACHE_HOST_PORT has no effect: BACKEND_TYPE is not distcache',
  ])
})

test('an unknown backend is refused with the message of envoyproxy/ratelimit', () => {
  assert.deepEqual(faultsOf({ BACKEND_TYPE: 'etcd' }), [
    'BACKEND_TYPE="etcd": Invalid setting for BackendType: etcd. It must be one of: memory, redis, kvstore, memcache, distcache',
  ])
})

test('Redis has the defaults of envoyproxy/ratelimit', () => {
  assert.deepEqual(redisOf({ BACKEND_TYPE: 'redis' }), {
    kind: 'redis',
    main: {
      type: 'single',
      url: '/var/run/nutcracker/ratelimit.sock',
      socketType: 'unix',
      poolSize: 10,
      auth: '',
      sentinelAuth: '',
      tls: undefined,
      pipelineWindowMs: 0,
      pipelineLimit: 0,
      connectTimeoutMs: 10_000,
    },
    perSecond: undefined,
    checksConnection: false,
    commandTimeoutMs: 1_000,
    startup: { initialIntervalMs: 1_000, maxIntervalMs: 30_000, maxElapsedMs: 0 },
  })
})

test('both names set every part of both instances', () => {
  for (const prefix of ['KVSTORE', 'REDIS']) {
    const { main, perSecond } = redisOf({
      [`${prefix}_URL`]: 'main:6379',
      [`${prefix}_TYPE`]: 'CLUSTER',
      [`${prefix}_PIPELINE_WINDOW`]: '75us',
      [`${prefix}_PERSECOND`]: 'true',
      [`${prefix}_PERSECOND_URL`]: 'mymaster,s1:1,s2:2',
      [`${prefix}_PERSECOND_TYPE`]: 'sentinel',
      [`${prefix}_PERSECOND_AUTH`]: 'user:password',
      [`${prefix}_PERSECOND_TLS`]: 'true',
      [`${prefix}_TLS_CACERT`]: '/ca.pem',
    })
    assert.deepEqual(
      [main.url, main.type, main.pipelineWindowMs, main.tls],
      ['main:6379', 'cluster', 0.075, undefined],
    )
    assert.deepEqual(
      [perSecond?.url, perSecond?.type, perSecond?.auth],
      ['mymaster,s1:1,s2:2', 'sentinel', 'user:password'],
    )
    assert.equal(perSecond?.tls?.caPath, '/ca.pem')
  }
})

const addresses: readonly (readonly [Env, 'tcp' | 'unix'])[] = [
  [{ REDIS_URL: 'localhost:6379' }, 'tcp'],
  [{ REDIS_URL: 'redis://localhost:6379/1' }, 'tcp'],
  [{ REDIS_URL: '/run/redis.sock' }, 'unix'],
  [{ REDIS_URL: 'a:1,b:2', REDIS_TYPE: 'cluster' }, 'tcp'],
  [{ REDIS_URL: 'localhost:6379', REDIS_SOCKET_TYPE: 'tcp' }, 'tcp'],
  [{ REDIS_URL: 'localhost', REDIS_SOCKET_TYPE: 'tcp' }, 'tcp'],
]
for (const [env, socketType] of addresses) {
  test(`${JSON.stringify(env)} is reached over ${socketType}`, () => {
    assert.equal(redisOf(env).main.socketType, socketType)
    assert.deepEqual(parseConfig(env).notes, [])
  })
}

test('a socket type that does not match the address is used with a warning', () => {
  const env = { REDIS_URL: 'localhost:6379', REDIS_SOCKET_TYPE: 'unix' }
  assert.equal(redisOf(env).main.socketType, 'unix')
  assert.deepEqual(parseConfig(env).notes, [
    'REDIS_SOCKET_TYPE is unix, but REDIS_URL looks like a host and port, not like a path',
  ])
})

test('rediss:// uses TLS without further settings', () => {
  assert.notEqual(redisOf({ REDIS_URL: 'rediss://localhost:6379' }).main.tls, undefined)
})

test('a sentinel address needs a master and a sentinel', () => {
  const expected =
    'KVSTORE_URL="mymaster": Expected master name and a list of urls for the sentinels, in the format: <redis master name>,<sentinel1>,...,<sentineln>'
  assert.deepEqual(faultsOf({ KVSTORE_TYPE: 'sentinel', KVSTORE_URL: 'mymaster' }), [expected])
})

test('a client certificate needs its key', () => {
  assert.deepEqual(faultsOf({ REDIS_URL: 'a:1', REDIS_TLS_CLIENT_CERT: '/c.pem' }), [
    'KVSTORE_TLS_CLIENT_KEY must name the key of REDIS_TLS_CLIENT_CERT',
  ])
})

test('memcached nodes come from a list or from a record, not from both', () => {
  const memcache = { BACKEND_TYPE: 'memcache' }
  assert.deepEqual(
    faultsOf({ ...memcache, MEMCACHE_HOST_PORT: 'a:1', MEMCACHE_SRV: '_m._tcp.x' }),
    [
      'MEMCACHE_SRV="_m._tcp.x": MEMCACHE_HOST_PORT and MEMCACHE_SRV are both set: remove one of them',
    ],
  )
  assert.deepEqual(faultsOf(memcache), [
    'DISTCACHE_HOST_PORT must list host:port of the nodes, unless DISTCACHE_SRV names a record',
  ])
  assert.deepEqual(faultsOf({ ...memcache, MEMCACHE_HOST_PORT: 'a:1,b' }), [
    'MEMCACHE_HOST_PORT="a:1,b": must be a list of host:port, but contains b',
  ])
})

test('the refresh of the memcached record is in seconds unless it has a unit', () => {
  for (const [text, refreshMs] of [
    ['90', 90_000],
    ['90s', 90_000],
    ['0', 0],
  ] as const) {
    const { store } = parseConfig({
      BACKEND_TYPE: 'distcache',
      DISTCACHE_SRV: '_memcache._tcp.example.org',
      DISTCACHE_SRV_REFRESH: text,
    }).config
    assert.ok(store.kind === 'memcached')
    assert.deepEqual(store.nodes, { kind: 'srv', record: '_memcache._tcp.example.org', refreshMs })
  }
})
