import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseConfig } from '../../../src/config/config.ts'
import { type ChosenSink, openSink, type SinkConfig } from '../../../src/stats/sinks/index.ts'
import { createSinkContext } from './support/sink-context.ts'

const environments = {
  none: { DISABLE_STATS: 'true' },
  stdout: { USE_STATSD: 'false' },
  statsd: { STATSD_HOST: '127.0.0.1', STATSD_PORT: '9', STATSD_PROTOCOL: 'udp' },
  dogstatsd: {
    USE_STATSD: 'false',
    USE_DOG_STATSD: 'true',
    STATSD_HOST: '127.0.0.1',
    STATSD_PORT: '9',
  },
  prometheus: { USE_STATSD: 'false', USE_PROMETHEUS: 'true', PROMETHEUS_ADDR: '127.0.0.1:0' },
} satisfies Record<SinkConfig['kind'], Record<string, string>>

for (const [kind, environment] of Object.entries(environments)) {
  test(`the environment can select ${kind}`, async () => {
    const { config, faults } = parseConfig({ ...environment, EXTRA_TAGS: 'az:1' })
    assert.deepEqual(faults, [])
    const chosen: ChosenSink = config.stats
    assert.equal(chosen.sink.kind, kind)
    const context = createSinkContext()
    // Standard output belongs to the test runner.
    const sink = await openSink(
      kind === 'stdout' ? { ...chosen, sink: { kind: 'none' } } : chosen,
      context,
    )
    await sink[Symbol.asyncDispose]()
    assert.equal(context.statistics.counter('reserved_tag').value, 1)
  })
}
