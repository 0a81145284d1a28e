/**
 * @servers redis
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '@portcullis/test-servers'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient } from '../support/service-client.ts'
import { launchService, startService, until, untilListening } from '../support/service-process.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 9 } }]\n'

test('the service waits for Redis at startup, and opens no port before', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  await redis.kill()
  const service = await launchService(t, {
    rules,
    env: {
      KVSTORE_URL: `127.0.0.1:${redis.port}`,
      KVSTORE_STARTUP_INITIAL_INTERVAL: '50ms',
      KVSTORE_STARTUP_MAX_INTERVAL: '200ms',
    },
  })
  await until(
    () => service.log.split('Waiting for Redis').length > 3,
    () => `it tried again; its log:\n${service.log}`,
  )
  assert.doesNotMatch(service.log, /Listening/)
  assert.equal(service.hasEnded, false)
  await redis.restart()
  const { decide } = await openDecisionClient(t, await untilListening(service))
  assert.equal((await decide(requestFor('d', descriptor('k=v')))).statuses[0]?.limitRemaining, 8)
})

test('a service that waits for Redis can be stopped', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  await redis.kill()
  const service = await launchService(t, { env: { KVSTORE_URL: `127.0.0.1:${redis.port}` } })
  await until(
    () => service.log.includes('Waiting for Redis'),
    () => 'it waited for Redis',
  )
  service.signal('SIGTERM')
  assert.equal(await service.ended, 0)
})

test('a service that gives up waiting logs what it waited for', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  await redis.kill()
  const service = await launchService(t, {
    env: {
      KVSTORE_URL: `127.0.0.1:${redis.port}`,
      KVSTORE_STARTUP_INITIAL_INTERVAL: '20ms',
      KVSTORE_STARTUP_MAX_ELAPSED_TIME: '200ms',
    },
  })
  assert.equal(await service.ended, 1)
  assert.match(service.log, new RegExp(`Giving up on Redis \\(127\\.0\\.0\\.1:${redis.port}\\)`))
  assert.doesNotMatch(service.log, /^\s+at /m)
})

test('while another service runs', async (t) => {
  const first = await startService(t, { rules })
  const portOf = (address: string) => address.slice(address.lastIndexOf(':') + 1)

  await t.test(
    'a port in use ends the service with a message that contains the port',
    async (t) => {
      for (const [variable, address] of [
        ['GRPC_PORT', first.grpcAddress],
        ['PORT', first.httpUrl],
      ] as const) {
        const port = portOf(address)
        const second = await launchService(t, { rules, env: { [variable]: port } })
        assert.equal(await second.ended, 1, second.log)
        assert.match(
          second.log,
          new RegExp(`level=fatal .*the address is already in use.*${port}.*Change`),
        )
        assert.doesNotMatch(second.log, /^\s+at /m)
      }
    },
  )

  await t.test(
    'a debug port in use is logged as an error, and the service continues',
    async (t) => {
      const port = portOf(first.debugUrl)
      const env = { DEBUG_PORT: port, BACKEND_TYPE: 'memory' }
      const second = await startService(t, { rules, env })
      assert.match(second.log, new RegExp(`level=error msg="Cannot listen for debug on .*${port}`))
      const { decide } = await openDecisionClient(t, second)
      assert.equal((await decide(requestFor('d', descriptor('k=v')))).overallCode, 1)
      assert.doesNotMatch(
        second.log,
        /counters are kept/,
        'there is no warning if memory is configured',
      )
    },
  )

  await t.test('without a store it logs once that counters are kept in the process', () => {
    assert.equal(first.log.split('counters are kept in this process').length, 2)
  })
})

test('all errors in the environment are reported together, with exit code 2', async (t) => {
  const env = {
    GRPC_PORT: '99999',
    LOG_LEVEL: 'loud',
    NEAR_LIMIT_RATIO: '2',
    BACKEND_TYPE: 'abacus',
    STATS_FLUSH_INTERVAL: 'often',
    SHADOW_MODE: 'maybe',
    REDIS_TYPE: 'ring',
  }
  const service = await launchService(t, { rules, env: { ...env, LOG_FORMT: 'json' } })
  assert.equal(await service.ended, 2)
  assert.match(service.log, /^warning: LOG_FORMT is not a variable.* LOG_FORMAT\?$/m)
  const lines = service.log.trimEnd().split('\n')
  for (const [name, value] of Object.entries(env)) {
    const line = lines.find((candidate) => candidate.includes(`${name}="${value}"`))
    assert.ok(line !== undefined, `${name} is missing in:\n${service.log}`)
  }
  assert.doesNotMatch(service.log, /^\s+at /m)
})

test('the environment of envoyproxy/ratelimit works unchanged', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const service = await startService(t, {
    rules,
    env: {
      USE_STATSD: 'false',
      DISABLE_STATS: 'false',
      LOG_LEVEL: 'debug',
      REDIS_SOCKET_TYPE: 'tcp',
      REDIS_URL: `127.0.0.1:${redis.port}`,
      REDIS_POOL_SIZE: '5',
      BACKEND_TYPE: 'redis',
      RUNTIME_IGNOREDOTFILES: 'true',
      EXPIRATION_JITTER_MAX_SECONDS: '10',
      GRPC_MAX_CONNECTION_AGE: '10h',
      MEMCACHE_HOST_PORT: '',
    },
  })
  assert.match(service.log, /level=debug msg="loading domain: d"/)
  const { decide } = await openDecisionClient(t, service)
  assert.equal((await decide(requestFor('d', descriptor('k=v')))).statuses[0]?.limitRemaining, 8)
  assert.doesNotMatch(service.log, /level=(?:error|fatal)/)
})

test('logs are JSON if configured', async (t) => {
  const service = await launchService(t, { rules, env: { LOG_FORMAT: 'json' } })
  await until(
    () => service.log.includes('Listening for HTTP'),
    () => 'it listened',
  )
  for (const line of service.log.trimEnd().split('\n')) {
    const { '@message': message, '@timestamp': timestamp, level } = JSON.parse(line)
    assert.equal(level, 'warning')
    assert.ok(message.length > 0 && !Number.isNaN(Date.parse(timestamp)))
  }
})
