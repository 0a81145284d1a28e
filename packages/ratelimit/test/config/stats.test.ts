import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toFaultText } from '@portcullis/service-kit/settings/env'
import { parseConfig } from '../../src/config/config.ts'

type Env = Readonly<Record<string, string>>

function faultsOf(env: Env): string[] {
  return parseConfig(env).faults.map(toFaultText)
}

function sinkOf(env: Env) {
  return parseConfig(env).config.stats.sink
}

test('one sink is selected, stdout by default', () => {
  assert.deepEqual(sinkOf({ USE_STATSD: 'false' }), { kind: 'stdout' })
  assert.deepEqual(sinkOf({ DISABLE_STATS: 'true', USE_PROMETHEUS: 'true' }), { kind: 'none' })
  assert.deepEqual(sinkOf({ STATSD_HOST: 'statsd', STATSD_PORT: '9125', STATSD_PROTOCOL: 'udp' }), {
    kind: 'statsd',
    host: 'statsd',
    port: 9125,
    protocol: 'udp',
    isDefault: false,
  })
  assert.deepEqual(
    sinkOf({ USE_STATSD: 'false', USE_PROMETHEUS: 'true', PROMETHEUS_ADDR: '[::1]:1' }),
    {
      kind: 'prometheus',
      host: '::1',
      port: 1,
      path: '/metrics',
      mapperPath: undefined,
      usesMilliseconds: false,
    },
  )
})

test('more than one sink is refused with the message of envoyproxy/ratelimit', () => {
  const message =
    'unable to use more than one stats sink at the same time. Set one of USE_DOG_STATSD, USE_STATSD, USE_PROMETHEUS.'
  assert.deepEqual(faultsOf({ USE_PROMETHEUS: 'true' }), [
    `USE_PROMETHEUS="true": ${message} (USE_STATSD is true by default: set it to false.)`,
  ])
  assert.deepEqual(faultsOf({ USE_STATSD: 'true', USE_DOG_STATSD: 'true' }), [
    `USE_DOG_STATSD="true": ${message}`,
  ])
})

test('a Prometheus address must have a port', () => {
  assert.deepEqual(faultsOf({ USE_STATSD: 'false', USE_PROMETHEUS: '1', PROMETHEUS_ADDR: 'x' }), [
    'PROMETHEUS_ADDR="x": must be host:port or :port, for example :9090',
  ])
})

test('mogrifiers are read from separate variables', () => {
  const sink = sinkOf({
    USE_STATSD: 'false',
    USE_DOG_STATSD: 'true',
    USE_DOG_STATSD_MOGRIFIERS: 'tag',
    DOG_STATSD_MOGRIFIER_TAG_PATTERN: '^ratelimit\\.(.*)$',
    DOG_STATSD_MOGRIFIER_TAG_NAME: 'ratelimit.$1',
    DOG_STATSD_MOGRIFIER_TAG_TAGS: 'domain:$1,env:test',
  })
  assert.deepEqual(sink, {
    kind: 'dogstatsd',
    host: 'localhost',
    port: 8125,
    mogrifiers: [
      {
        pattern: /^ratelimit\.(.*)$/s,
        name: 'ratelimit.$1',
        tags: new Map([
          ['domain', '$1'],
          ['env', 'test'],
        ]),
      },
    ],
  })
})

test('an incomplete mogrifier is refused with the message of envoyproxy/ratelimit', () => {
  const env = { USE_STATSD: 'false', USE_DOG_STATSD: 'true', USE_DOG_STATSD_MOGRIFIERS: 'A' }
  assert.deepEqual(faultsOf(env), [
    'USE_DOG_STATSD_MOGRIFIERS="A": no PATTERN specified for mogrifier A',
    'USE_DOG_STATSD_MOGRIFIERS="A": no NAME specified for mogrifier A',
  ])
  const broken = {
    ...env,
    DOG_STATSD_MOGRIFIER_A_PATTERN: '(',
    DOG_STATSD_MOGRIFIER_A_NAME: 'n',
  }
  assert.match(faultsOf(broken).join('\n'), /failed to compile pattern for A: /)
})

test('a flush interval of 0 is refused', () => {
  assert.deepEqual(faultsOf({ STATS_FLUSH_INTERVAL: '0' }), [
    'STATS_FLUSH_INTERVAL="0": must be longer than 0',
  ])
})
