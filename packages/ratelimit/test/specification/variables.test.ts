import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { on, once } from 'node:events'
import { test } from 'node:test'
import { parseClientFlags } from '../../src/commands/client-flags.ts'
import { parseConfig } from '../../src/config/config.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { openService } from '../support/service-app.ts'
import { openDecisionClient, readStatistics } from '../support/service-client.ts'
import { startService } from '../support/service-process.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 9 } }]\n'

test('GRPC_HOST, GRPC_PORT, DEBUG_HOST and DEBUG_PORT set the listeners', () => {
  const { config, faults } = parseConfig({
    GRPC_HOST: '127.0.0.2',
    GRPC_PORT: '1',
    DEBUG_HOST: '127.0.0.3',
    DEBUG_PORT: '2',
  })
  assert.deepEqual(faults, [])
  const { grpc, debug } = config.listeners
  assert.deepEqual([grpc.host, grpc.port], ['127.0.0.2', 1])
  assert.deepEqual([debug.host, debug.port], ['127.0.0.3', 2])
})

test('without HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED a service without rules is healthy', async (t) => {
  const healthOf = async (env: Readonly<Record<string, string>>) => {
    const { httpUrl } = await openService(t, { rules: 'domain: [', env })
    return (await fetch(`${httpUrl}/healthcheck`)).status
  }
  assert.equal(await healthOf({}), 200)
  assert.equal(await healthOf({ HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED: 'true' }), 500)
})

test('LOG_LEVEL and LOG_FORMAT: text lines with time, level and msg, down to the level', async (t) => {
  const service = await startService(t, { rules, env: { LOG_LEVEL: 'debug' } })
  await service.stop()
  const lines = service.log.trimEnd().split('\n')
  for (const line of lines) assert.match(line, /^time="[^"]+" level=[a-z]+ msg=\S/)
  assert.ok(lines.some((line) => line.includes('level=debug')))
  const quiet = await startService(t, { rules })
  await quiet.stop()
  assert.doesNotMatch(quiet.log, /level=(?:debug|info)/)
})

test('EXTRA_TAGS are on every statistic that is sent, at STATS_FLUSH_INTERVAL', async (t) => {
  const statsd = createSocket('udp4')
  const lines: string[] = []
  statsd.bind(0, '127.0.0.1')
  await once(statsd, 'listening')
  t.after(() => statsd.close())
  const packets = on(statsd, 'message')
  const env = {
    DISABLE_STATS: 'false',
    STATSD_HOST: '127.0.0.1',
    STATSD_PORT: `${statsd.address().port}`,
    STATSD_PROTOCOL: 'udp',
    STATS_FLUSH_INTERVAL: '20ms',
    EXTRA_TAGS: '<region:eu>,<tier:edge>',
  }
  const service = await openService(t, { rules, env })
  const { decide } = await openDecisionClient(t, service)
  await decide(requestFor('d', descriptor('k=v')))
  // The counter is sent only once.
  for await (const [packet] of packets) {
    lines.push(...`${packet}`.trimEnd().split('\n'))
    if (`${packet}`.includes('.d.k.total_hits')) break
  }
  for (const line of lines) assert.match(line, /\.__region=eu\.__tier=edge:/)
  const statistics = [...(await readStatistics(service))]
  for (const [name] of statistics) assert.match(name, /\.__region=eu\.__tier=edge$/)
  const suffix = '.__region=eu.__tier=edge'
  for (const [name, value] of [
    ['ratelimit.service.rate_limit.d.k.total_hits', 1],
    ['ratelimit_server.ShouldRateLimit.response_time.count', 1],
  ] as const) {
    assert.ok(
      statistics.some(([shown, is]) => shown === name + suffix && is === value),
      name,
    )
  }
})

test('the command-line client calls localhost:8081 by default', () => {
  assert.equal(parseClientFlags([]).dial_string, 'localhost:8081')
})
