import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { defaultLimits } from '@portcullis/grpc-unary'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { toMarkdown } from '@portcullis/service-kit/settings/settings-help'
import { chapters, parseConfig } from '../../src/config/config.ts'
import { specifiedVariables } from '../support/specified-variables.ts'

type Env = Readonly<Record<string, string>>

function faultsOf(env: Env): string[] {
  return parseConfig(env).faults.map(toFaultText)
}

const all = Object.values(chapters).flatMap((chapter) => Object.values(chapter.variables))
const names = all.flatMap(({ name, aliases }) => [name, ...aliases])

test('every documented variable and every variable of envoyproxy/ratelimit is known', () => {
  const missing = specifiedVariables.filter((name) => !names.includes(name))
  assert.deepEqual(missing, [])
})

test('no name is used twice', () => {
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  assert.deepEqual(twice, [])
})

test('every help text starts like a sentence and has no full stop at the end', () => {
  for (const { name, help } of all) {
    assert.match(help, /^[\w:*`/]/, name)
    assert.doesNotMatch(help, /[.\n]$/, name)
  }
})

test('every documented default is valid', () => {
  for (const { name, type, defaultText, default: value } of all) {
    if (defaultText.includes(' ')) continue
    assert.deepEqual(type.parse(defaultText), value, name)
  }
})

test('every limit of the gRPC listener can be set, and a time of 0 is a fault', () => {
  const limits = Object.entries(chapters.grpcLimits.variables)
  const ordinary = limits.filter(([limit]) => !limit.endsWith('Ms'))
  const times = limits.filter(([limit]) => limit.endsWith('Ms'))
  const env = Object.fromEntries([
    ...ordinary.map(([, { name }], index) => [name, `${7 + index}`]),
    ...times.map(([, { name }], index) => [name, `${index + 1}ms`]),
  ])
  assert.deepEqual(parseConfig(env).faults, [])
  assert.deepEqual(
    parseConfig(env).config.listeners.grpc.limits,
    Object.fromEntries([
      ...ordinary.map(([limit], index) => [limit, 7 + index]),
      ...times.map(([limit], index) => [limit, index + 1]),
    ]),
  )
  assert.deepEqual(faultsOf({ GRPC_FRAME_TIMEOUT: '0' }), [
    'GRPC_FRAME_TIMEOUT="0": must be longer than 0',
  ])
  assert.match(faultsOf({ GRPC_MAX_CONNECTIONS: '0' })[0] ?? '', /^GRPC_MAX_CONNECTIONS="0": /)
})

test('the manual lists every name', () => {
  const markdown = toMarkdown(chapters)
  for (const name of names) assert.ok(markdown.includes(`\`${name}\``), name)
})

test('an empty environment gives the documented defaults', () => {
  const { config, faults, notes } = parseConfig({})
  assert.deepEqual([faults, notes], [[], []])
  const { effective: _, ...values } = config
  assert.deepEqual(values, {
    listeners: {
      grpc: {
        host: '0.0.0.0',
        port: 8081,
        socketPath: undefined,
        maxConnectionAgeMs: 86_400_000,
        maxConnectionAgeGraceMs: 3_600_000,
        hasReflection: false,
        limits: defaultLimits,
        tls: undefined,
      },
      http: { host: '0.0.0.0', port: 8080, bodyLimitBytes: 1_048_576, allowedOrigins: [] },
      debug: { host: '0.0.0.0', port: 6070, token: undefined, recordedDecisions: 0 },
    },
    log: { level: 'warning', format: 'text' },
    lifecycle: {
      healthNeedsRules: false,
      startWithoutRules: false,
      warmsUp: true,
      drainDelayMs: 5_000,
      drainTimeoutMs: 20_000,
    },
    workers: 1,
    rules: {
      source: {
        kind: 'file',
        root: '/srv/runtime_data/current',
        subdirectory: '',
        appDirectory: 'config',
        ignoresDotFiles: false,
        watchesRoot: true,
        fileLimitBytes: 67_108_864,
      },
      mergesDomains: false,
    },
    decisions: {
      isShadowMode: false,
      isQuotaMode: false,
      nearLimitRatio: 0.8,
      localCacheBytes: 0,
      cacheKeyPrefix: '',
      keyFormat: 'exact',
      mostDescriptors: 500,
      mostEntries: 100,
      expirationJitterMaxSeconds: 300,
      stopsIncrementWhenOver: false,
      headerNames: undefined,
      addsDynamicMetadata: false,
    },
    store: { kind: 'memory', isDefault: true, maxBytes: 2 ** 30 },
    stats: {
      flushIntervalMs: 10_000,
      extraTags: new Map(),
      maxDynamicKeys: 10_000,
      topKeysSize: 1_000,
      sink: { kind: 'statsd', host: 'localhost', port: 8125, protocol: 'tcp', isDefault: true },
    },
    tracing: undefined,
  })
})

test('a jitter of 0 or less is none, as in envoyproxy/ratelimit', () => {
  for (const text of ['0', '-5']) {
    const { config, faults } = parseConfig({ EXPIRATION_JITTER_MAX_SECONDS: text })
    assert.deepEqual([config.decisions.expirationJitterMaxSeconds, faults], [Number(text), []])
  }
})

test('the configuration cannot be changed', () => {
  const { config } = parseConfig({})
  assert.throws(() => Object.assign(config.listeners.grpc, { port: 1 }), TypeError)
  assert.throws(() => Object.assign(config, { log: {} }), TypeError)
})

test('all faults are found at once, each with its name, its value and what is allowed', () => {
  const env = {
    GRPC_PORT: 'eighty',
    LOG_LEVEL: 'loud',
    NEAR_LIMIT_RATIO: '1.5',
    CONFIG_TYPE: 'ETCD',
    REDIS_TYPE: 'ring',
    REDIS_POOL_ON_EMPTY_BEHAVIOR: 'CREATE',
    TRACING_EXPORTER_PROTOCOL: 'udp',
  }
  assert.deepEqual(faultsOf(env), [
    'GRPC_PORT="eighty": must be a whole number from 0 to 65535',
    'LOG_LEVEL="loud": Could not parse log level. It must be one of: panic, fatal, error, warning, info, debug, trace',
    'CONFIG_TYPE="ETCD": Invalid setting for ConfigType: ETCD. It must be one of: FILE, GRPC_XDS_SOTW',
    'NEAR_LIMIT_RATIO="1.5": must be a number from 0 to 1',
    'REDIS_TYPE="ring": Unrecognized redis type ring. It must be one of: single, sentinel, cluster',
    'REDIS_POOL_ON_EMPTY_BEHAVIOR="CREATE": must be one of: WAIT',
    'TRACING_EXPORTER_PROTOCOL="udp": Invalid otlptrace client protocol: udp. It must be one of: http, grpc',
  ])
})

test('LOG_LEVEL is accepted in any case, and warn is the same as warning', () => {
  for (const [text, level] of [
    ['WARN', 'warning'],
    ['Warning', 'warning'],
    ['DEBUG', 'debug'],
    ['panic', 'panic'],
  ] as const) {
    assert.equal(parseConfig({ LOG_LEVEL: text }).config.log.level, level)
  }
})

test('the local cache has two names', () => {
  for (const name of ['LocalCacheSizeInBytes', 'LOCAL_CACHE_SIZE_IN_BYTES']) {
    assert.equal(parseConfig({ [name]: '1048576' }).config.decisions.localCacheBytes, 1_048_576)
  }
})

test('header names are used only if headers are enabled', () => {
  const env = { LIMIT_RESPONSE_HEADERS_ENABLED: 'true', LIMIT_RESET_HEADER: 'X-Reset' }
  assert.deepEqual(parseConfig(env).config.decisions.headerNames, {
    limit: 'RateLimit-Limit',
    remaining: 'RateLimit-Remaining',
    reset: 'X-Reset',
  })
  assert.deepEqual(faultsOf({ ...env, LIMIT_RESET_HEADER: 'X Reset' }), [
    'LIMIT_RESET_HEADER="X Reset": must be a valid header name, such as RateLimit-Limit',
  ])
})

test('TLS on the gRPC listener needs a certificate and a key', () => {
  const tls = { GRPC_SERVER_USE_TLS: 'true' }
  assert.deepEqual(faultsOf({ ...tls, GRPC_SERVER_TLS_CERT: '/c.pem' }), [
    'GRPC_SERVER_TLS_KEY must name a PEM file when GRPC_SERVER_USE_TLS is true',
  ])
  assert.equal(faultsOf(tls).length, 2)
  const whole = {
    ...tls,
    GRPC_SERVER_TLS_CERT: '/c.pem',
    GRPC_SERVER_TLS_KEY: '/k.pem',
    GRPC_CLIENT_TLS_CACERT: '/ca.pem',
    GRPC_CLIENT_TLS_SAN: 'envoy',
  }
  assert.deepEqual(parseConfig(whole).config.listeners.grpc.tls, {
    certPath: '/c.pem',
    keyPath: '/k.pem',
    clientCaPath: '/ca.pem',
    clientSan: 'envoy',
  })
  assert.deepEqual(parseConfig({ GRPC_SERVER_TLS_CERT: '/c.pem' }).notes, [
    'GRPC_SERVER_TLS_CERT has no effect: GRPC_SERVER_USE_TLS is not true',
  ])
})

test('xDS settings are read in the documented formats', () => {
  const { config, faults } = parseConfig({
    CONFIG_TYPE: 'GRPC_XDS_SOTW',
    CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: '<authorization:Bearer a:b>,<x:y>',
    CONFIG_GRPC_XDS_NODE_METADATA: 'zone=a,role=b',
    CONFIG_GRPC_XDS_SERVER_USE_TLS: 'true',
    CONFIG_GRPC_XDS_SERVER_TLS_SAN: 'xds',
    XDS_CLIENT_BACKOFF_JITTER: 'false',
  })
  assert.deepEqual(faults, [])
  assert.deepEqual(config.rules.source, {
    kind: 'xds',
    serverUrl: 'localhost:18000',
    nodeId: 'default',
    nodeMetadata: new Map([
      ['zone', 'a'],
      ['role', 'b'],
    ]),
    headers: new Map([
      ['authorization', 'Bearer a:b'],
      ['x', 'y'],
    ]),
    connectRetryMs: 3_000,
    backoff: { initialMs: 10_000, maxMs: 60_000, randomFactor: 0 },
    maxMessageBytes: 4_194_304,
    tls: { certPath: undefined, keyPath: undefined, caPath: undefined, serverName: 'xds' },
  })
})

test('the address and the headers for a management server are checked with the other settings', () => {
  const faults = faultsOf({
    CONFIG_TYPE: 'GRPC_XDS_SOTW',
    CONFIG_GRPC_XDS_SERVER_URL: 'http://host',
    CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: 'a b:hunter2',
  })
  assert.equal(faults.length, 2)
  assert.match(faults.join('\n'), /CONFIG_GRPC_XDS_SERVER_URL="http:\/\/host": must be host:port/)
  assert.match(faults.join('\n'), /="\*{5}": the header "a b" has an invalid name/)
  assert.doesNotMatch(faults.join('\n'), /hunter2/)
})

test('secrets never appear in faults', () => {
  const faults = faultsOf({
    CONFIG_TYPE: 'GRPC_XDS_SOTW',
    CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS: 'hunter2',
    REDIS_TYPE: 'sentinel',
    REDIS_URL: 'redis://user:hunter2@host:1',
  })
  assert.equal(faults.length, 2)
  assert.doesNotMatch(faults.join('\n'), /hunter2/)
})

test('a misspelled variable causes one warning with a suggestion', () => {
  const env = { KVSTORE_UR: 'x', REDIS_POOLSIZE: '1', PATH: '/bin', HOME: '/', REDIS_PORT: 'x' }
  assert.deepEqual(parseConfig(env).notes, [
    'KVSTORE_UR is not a variable of this service: did you mean KVSTORE_URL?',
    'REDIS_POOLSIZE is not a variable of this service: did you mean REDIS_POOL_SIZE?',
  ])
})

test('tracing has a random instance id unless one is given', () => {
  const first = parseConfig({ TRACING_ENABLED: 'true' }).config.tracing
  const second = parseConfig({ TRACING_ENABLED: 'true' }).config.tracing
  assert.match(first?.serviceInstanceId ?? '', /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-/)
  assert.notEqual(first?.serviceInstanceId, second?.serviceInstanceId)
  const given = parseConfig({ TRACING_ENABLED: 'true', TRACING_SERVICE_INSTANCE_ID: 'me' })
  assert.equal(given.config.tracing?.serviceInstanceId, 'me')
})

test('there are as many processes as cores if the store can be shared', () => {
  const redis = { KVSTORE_URL: 'localhost:6379' }
  assert.equal(parseConfig(redis).config.workers, availableParallelism())
  assert.equal(parseConfig({ ...redis, WORKERS: '3' }).config.workers, 3)
  assert.equal(parseConfig({ BACKEND_TYPE: 'memory', WORKERS: '1' }).config.workers, 1)
  assert.deepEqual(faultsOf({ WORKERS: '2' }), [
    'WORKERS="2": counters in memory belong to one process, so each process would allow the full ' +
      'limit. Set WORKERS=1, or set KVSTORE_URL to count in Redis',
  ])
  assert.match(faultsOf({ ...redis, WORKERS: '0' }).join(), /WORKERS="0": must be a whole number/)
})
