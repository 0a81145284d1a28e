import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { createStatsdFormat } from '@portcullis/service-kit/metrics/lines/statsd-format'
import { openTcpOutput } from '@portcullis/service-kit/metrics/lines/tcp-output'
import fc from 'fast-check'
import type { Statistics } from '../../../src/stats/registry.ts'
import { ruleStatistics } from '../../../src/stats/rule-statistics.ts'
import { openSink, type SinkConfig } from '../../../src/stats/sinks/index.ts'
import { LineSink } from '../../../src/stats/sinks/lines/line-sink.ts'
import { createSinkContext, neverMs, type TestSinkContext } from './support/sink-context.ts'
import { openTcpStatsd, openUdpStatsd, type Received } from './support/statsd-server.ts'

const prefix = 'ratelimit.service.rate_limit'
const protocols = ['tcp', 'udp'] as const

function toStatsd(port: number, protocol: 'tcp' | 'udp'): SinkConfig {
  return { kind: 'statsd', host: '127.0.0.1', port, protocol, isDefault: false }
}

async function openStatsd(
  t: TestContext,
  protocol: 'tcp' | 'udp',
  context: TestSinkContext,
  extraTags: ReadonlyMap<string, string> = new Map(),
) {
  const server = await (protocol === 'tcp' ? openTcpStatsd(t) : openUdpStatsd(t))
  const sink = await openSink(
    { flushIntervalMs: neverMs, extraTags, sink: toStatsd(server.port, protocol) },
    context,
  )
  t.after(() => sink[Symbol.asyncDispose]())
  return { received: server.received, sink }
}

/** A flush of a sink that has just been opened may find it not connected yet. */
async function connected(context: TestSinkContext, received: Received): Promise<void> {
  context.statistics.timer('connected').observe(1)
  await received.until(() => received.timers.has('connected'), 'the connection')
}

for (const protocol of protocols) {
  test(`${protocol}: counters are sent as differences, gauges always, zeros never`, async (t) => {
    const context = createSinkContext({ processGauges: () => [['ratelimit.node.rss', 5]] })
    const { statistics } = context
    const rule = statistics.rules.forRule('mongo_cps.database_users')
    const loads = statistics.counter('ratelimit.service.config_load_success')
    statistics.counter('ratelimit.service.config_load_error')
    statistics.gauge('ratelimit.localcache.entryCount', () => 2.5)
    const { received, sink } = await openStatsd(t, protocol, context)
    await connected(context, received)

    rule.totalHits += 3
    rule.overLimit += 1
    loads.value += 1
    statistics.unknownDomain('no|such:domain\n').value += 2
    await sink.flush()
    rule.totalHits += 4
    await sink.flush()
    await sink.flush()
    const total = `${prefix}.mongo_cps.database_users.total_hits`
    await received.until(() => received.counters.get(total) === 7, 'the second flush')
    await received.until(
      () => received.lines.filter((line) => line.includes('entryCount')).length === 3,
      'the third flush',
    )
    received.check()
    assert.deepEqual(
      received.lines.filter((line) => line.endsWith('|c')).toSorted(),
      [
        `${total}:3|c`,
        `${total}:4|c`,
        `${prefix}.mongo_cps.database_users.over_limit:1|c`,
        `${prefix}.no_such_domain_.domain_not_found:2|c`,
        'ratelimit.service.config_load_success:1|c',
      ].toSorted(),
    )
    assert.equal(
      received.lines.filter((line) => line === 'ratelimit.localcache.entryCount:2.500000|g').length,
      3,
    )
    assert.equal(received.gauges.get('ratelimit.node.rss'), 5)
  })

  test(`${protocol}: durations are sent without a flush, many together`, async (t) => {
    const context = createSinkContext()
    const { received } = await openStatsd(t, protocol, context)
    await connected(context, received)
    const before = received.packets.length
    const timer = context.statistics.timer('ratelimit_server.ShouldRateLimit.response_time')
    for (let i = 0; i < 1_000; i += 1) timer.observe(i / 8)
    const durations = () =>
      received.timers.get('ratelimit_server.ShouldRateLimit.response_time') ?? []
    await received.until(() => durations().length === 1_000, 'every duration')
    received.check()
    assert.deepEqual(
      durations(),
      Array.from({ length: 1_000 }, (_, i) => i / 8),
    )
    assert.ok(received.lines.includes('ratelimit_server.ShouldRateLimit.response_time:3|ms'))
    assert.ok(received.lines.includes('ratelimit_server.ShouldRateLimit.response_time:3.125000|ms'))
    if (protocol === 'udp') assert.ok(received.packets.length - before < 60)
  })

  test(`${protocol}: the sums of all flushes are the counters, whatever is dropped`, async (t) => {
    const context = createSinkContext({ maxRequestKeys: 8 })
    const { statistics } = context
    const { received, sink } = await openStatsd(t, protocol, context)
    await connected(context, received)
    const expected = new Map<string, number>()
    let round = 0
    const action = fc.record({
      key: fc.integer({ min: 0, max: 40 }),
      isRule: fc.boolean(),
      statistic: fc.constantFrom(...ruleStatistics),
      by: fc.integer({ min: 1, max: 1_000_000 }),
      flushes: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        round += 1
        for (const { key, isRule, statistic, by, flushes } of actions) {
          const path = isRule ? `d.rule_${key}` : `d.request_${round}_${key}`
          const { rules } = statistics
          const counters = isRule ? rules.forRule(path) : rules.forRequest(path)
          counters[statistic[1]] += by
          const name = `${prefix}.${path}.${statistic[0]}`
          expected.set(name, (expected.get(name) ?? 0) + by)
          if (flushes) await sink.flush()
        }
      }),
      { numRuns: 40 },
    )
    await sink[Symbol.asyncDispose]()
    const sum = (counters: ReadonlyMap<string, number>) =>
      [...counters.values()].reduce((total, value) => total + value, 0)
    await received.until(() => sum(received.counters) >= sum(expected), 'the last flush')
    received.check()
    assert.deepEqual(new Map([...received.counters].toSorted()), new Map([...expected].toSorted()))
  })

  test(`${protocol}: tags become a part of the name, sorted and cleaned`, async (t) => {
    const context = createSinkContext()
    const { statistics } = context
    const extraTags = new Map([
      ['zone', 'a.b:c|d'],
      ['az', '1'],
      ['empty', ''],
    ])
    const { received, sink } = await openStatsd(t, protocol, context, extraTags)
    statistics.rules.forRule('d.k').totalHits += 1
    statistics.counter('ratelimit.memcache.multiget.__code=success').value += 1
    await sink[Symbol.asyncDispose]()
    await received.until(() => received.counters.size >= 3, 'the last flush')
    received.check()
    assert.deepEqual([...received.counters.keys()].toSorted(), [
      'ratelimit.memcache.multiget.__az=1.__code=success.__zone=a_b_c_d',
      `${prefix}.d.k.total_hits.__az=1.__zone=a_b_c_d`,
      'reserved_tag.__az=1.__zone=a_b_c_d',
    ])
  })

  test(`${protocol}: very many rules are sent in slices`, async (t) => {
    const context = createSinkContext()
    const { statistics } = context
    const count = protocol === 'tcp' ? 40_000 : 20_000
    for (let i = 0; i < count; i += 1) {
      const counters = statistics.rules.forRule(`d.key_${i}`)
      for (const [, field] of ruleStatistics) counters[field] += 1
    }
    const { received, sink } = await openStatsd(t, protocol, context)
    await connected(context, received)
    let turns = 0
    const turn = setInterval(() => {
      turns += 1
    }, 0)
    await sink.flush()
    clearInterval(turn)
    assert.ok(turns > 20, `the event loop turned only ${turns} times`)
    if (protocol === 'tcp') {
      await received.until(() => received.counters.size === count * 6, 'every counter')
    } else {
      const largest = Math.max(...received.packets.map((packet) => packet.length))
      assert.ok(largest <= 1_432 && largest > 1_300, `${largest} bytes in a packet`)
    }
    received.check()
    assert.ok([...received.counters.values()].every((value) => value === 1))
  })
}

test('dropped statistics are sent without waiting for a flush', async (t) => {
  const context = createSinkContext({ maxRequestKeys: 10 })
  const { statistics } = context
  const { received } = await openStatsd(t, 'tcp', context)
  await connected(context, received)
  for (let i = 0; i < 100; i += 1) {
    statistics.rules.forRequest(`d.k_${i}`).totalHits += 1
    statistics.unknownDomain(`d${i}`).value += 1
  }
  await received.until(() => received.counters.size >= 180, 'the dropped statistics')
  received.check()
})

test('flushes come at the interval', async (t) => {
  const context = createSinkContext()
  const server = await openUdpStatsd(t)
  const sink = await openSink(
    { flushIntervalMs: 20, extraTags: new Map(), sink: toStatsd(server.port, 'udp') },
    context,
  )
  t.after(() => sink[Symbol.asyncDispose]())
  const counter = context.statistics.counter('c')
  for (let i = 1; i <= 3; i += 1) {
    counter.value += 1
    await server.received.until(() => server.received.counters.get('c') === i, `flush ${i}`)
  }
})

function openReconnecting(
  context: TestSinkContext,
  port: number,
  { isWanted = true, stallMs = 30_000 } = {},
) {
  const output = openTcpOutput(
    { host: '127.0.0.1', port, retryMs: 20, stallMs },
    { log: context.log, name: 'statsd', isWanted },
  )
  const format = createStatsdFormat([])
  return new LineSink({ flushIntervalMs: neverMs, format, output }, context)
}

test('durations that were measured while statsd was unavailable are sent when it is back, without a flush', async (t) => {
  const context = createSinkContext()
  const { port, stop } = await openTcpStatsd(t)
  await stop()
  const sink = openReconnecting(context, port)
  t.after(() => sink[Symbol.asyncDispose]())
  context.statistics.timer('early').observe(7)
  // Longer than durations are collected, so an attempt to send them has failed.
  await sleep(200)
  const { received } = await openTcpStatsd(t, port)
  await received.until(() => received.timers.has('early'), 'the duration')
  assert.deepEqual(received.timers.get('early'), [7])
})

test('a restarted statsd receives everything, and this is logged once', async (t) => {
  const context = createSinkContext()
  const { statistics, logLines } = context
  const first = await openTcpStatsd(t)
  const sink = openReconnecting(context, first.port)
  t.after(() => sink[Symbol.asyncDispose]())
  await connected(context, first.received)
  const counters = statistics.rules.forRule('d.k')
  counters.totalHits += 1
  await sink.flush()
  await first.received.until(() => first.received.counters.size === 1, 'the first flush')

  await first.stop()
  await first.received.until(() => logLines.length > 0, 'the line of the log')
  for (let i = 0; i < 10; i += 1) {
    counters.totalHits += 1
    await sink.flush()
  }
  const second = await openTcpStatsd(t, first.port)
  await second.received.until(() => second.connections.size > 0, 'the connection')
  counters.totalHits += 1
  await second.received.until(() => {
    void sink.flush()
    return second.received.counters.get(`${prefix}.d.k.total_hits`) === 11
  }, 'the counts during the outage')
  assert.equal(logLines.filter((line) => line.startsWith('warning')).length, 1)
  assert.match(logLines[0] ?? '', /Statistics are not sent to statsd: .*trying again every 0.02 s/)
  assert.equal(logLines.at(-1), 'info Statistics are sent to statsd')
  second.received.check()
})

test('a statsd that was never available costs nothing and does not fill the log', async (t) => {
  const context = createSinkContext()
  const { statistics, logLines } = context
  const taken = await openTcpStatsd(t)
  await taken.stop()
  const sink = openReconnecting(context, taken.port, { isWanted: false })
  const timer = statistics.timer('t')
  await taken.received.until(() => logLines.length > 0, 'the line of the log')
  for (let i = 0; i < 300_000; i += 1) timer.observe(i)
  for (let i = 0; i < 20; i += 1) {
    await sink.flush()
    await sleep(10)
  }
  await sink[Symbol.asyncDispose]()
  assert.equal(logLines.length, 1)
  assert.match(logLines[0] ?? '', /^info Statistics are not sent to statsd: connect ECONNREFUSED/)
  assert.equal(timer.observer, undefined)
})

/** Adds hits to so many rules that their lines, 15 MB, exceed the socket buffers. Returns their number. */
function addMoreThanFits({ rules }: Statistics): number {
  const count = 25_000
  const long = 'long'.repeat(140)
  for (let i = 0; i < count; i += 1) rules.forRule(`d.${long}_${i}`).totalHits += 1
  return count
}

test('a reader that stops reading blocks nothing else, and gets the rest later', async (t) => {
  const context = createSinkContext()
  const { statistics } = context
  const server = await openTcpStatsd(t)
  const sink = openReconnecting(context, server.port)
  t.after(() => sink[Symbol.asyncDispose]())
  await connected(context, server.received)
  server.pause()
  const count = addMoreThanFits(statistics)
  let isFlushed = false
  const flushed = sink.flush().then(() => {
    isFlushed = true
  })
  const timer = statistics.timer('t')
  for (let i = 0; i < 200; i += 1) {
    for (let j = 0; j < 1_000; j += 1) timer.observe(1)
    await setImmediate()
  }
  assert.equal(isFlushed, false)
  server.resume()
  await flushed
  await server.received.until(() => server.received.counters.size === count, 'the rest')
  assert.ok((server.received.timers.get('t') ?? []).length <= 200_000)
  server.received.check()
})

test('a peer that reads nothing for long is disconnected, and the next one gets the rest', async (t) => {
  const context = createSinkContext()
  const { statistics, logLines } = context
  const server = await openTcpStatsd(t)
  const sink = openReconnecting(context, server.port, { stallMs: 1_000 })
  t.after(() => sink[Symbol.asyncDispose]())
  await connected(context, server.received)
  server.pause()
  addMoreThanFits(statistics)
  await sink.flush()
  assert.match(logLines[0] ?? '', /the peer read nothing for 1000 ms/)
  server.resume()
  await server.received.until(() => logLines.length >= 2, 'the next connection')
  await server.received.until(() => {
    // Repeated, because on a busy machine the next peer may also appear to read nothing.
    statistics.rules.forRule('d.last').totalHits += 1
    void sink.flush()
    return server.received.counters.has(`${prefix}.d.last.total_hits`)
  }, 'the rest')
})

test('a gauge without a value is not sent', async (t) => {
  const context = createSinkContext()
  context.statistics.gauge('average_of_nothing', () => Number.NaN)
  context.statistics.gauge('g', () => 1)
  const { received, sink } = await openStatsd(t, 'tcp', context)
  await sink[Symbol.asyncDispose]()
  await received.until(() => received.gauges.size > 0, 'the last flush')
  assert.deepEqual([...received.gauges], [['g', 1]])
  received.check()
})

test('closing gives up on a reader that does not read', async (t) => {
  const context = createSinkContext()
  const server = await openTcpStatsd(t)
  const sink = openReconnecting(context, server.port)
  await connected(context, server.received)
  server.pause()
  addMoreThanFits(context.statistics)
  await sink[Symbol.asyncDispose]()
  assert.equal(context.statistics.dropped, undefined)
})

test('closing sends the remaining statistics, even right after opening', async (t) => {
  const context = createSinkContext()
  const server = await openTcpStatsd(t)
  const sink = openReconnecting(context, server.port)
  context.statistics.timer('t').observe(0.25)
  context.statistics.rules.forRule('d.k').nearLimit += 2
  await sink[Symbol.asyncDispose]()
  const { received } = server
  await received.until(() => received.counters.size === 1, 'the last flush')
  assert.deepEqual(received.timers.get('t'), [0.25])
  assert.equal(received.counters.get(`${prefix}.d.k.near_limit`), 2)
})

test('closing sends the remaining statistics even if the process was paused', async (t) => {
  const context = createSinkContext()
  const { port, received } = await openTcpStatsd(t)
  const sink = openReconnecting(context, port)
  context.statistics.rules.forRule('d.k').nearLimit += 2
  const closed = sink[Symbol.asyncDispose]()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)
  await closed
  await received.until(() => received.counters.size === 1, 'the last flush')
  assert.equal(received.counters.get(`${prefix}.d.k.near_limit`), 2)
})

test('udp: a name that does not fit into a packet is skipped and logged once', async (t) => {
  const context = createSinkContext()
  const { received, sink } = await openStatsd(t, 'udp', context)
  await connected(context, received)
  context.statistics.rules.forRule(`d.${'é'.repeat(900)}`).totalHits += 1
  context.statistics.rules.forRule(`d.${'ü'.repeat(900)}`).totalHits += 1
  context.statistics.rules.forRule('d.k').totalHits += 1
  await sink.flush()
  await received.until(() => received.counters.size === 1, 'the other counter')
  assert.equal(context.logLines.filter((line) => line.includes('1432 bytes')).length, 1)
  received.check()
})

test('udp: a missing listener is logged once', async (t) => {
  const context = createSinkContext()
  const sink = await openSink(
    { flushIntervalMs: neverMs, extraTags: new Map(), sink: toStatsd(9, 'udp') },
    context,
  )
  t.after(() => sink[Symbol.asyncDispose]())
  const counter = context.statistics.counter('c')
  for (let i = 0; i < 50 || (i < 12_000 && context.logLines.length === 0); i += 1) {
    counter.value += 1
    await sink.flush()
    await sleep(2)
  }
  assert.equal(context.logLines.length, 1)
  assert.match(context.logLines[0] ?? '', /statsd at 127\.0\.0\.1:9: .*ECONNREFUSED/)
})

test('a host name that cannot be resolved is logged once', async (t) => {
  const context = createSinkContext()
  const choice: SinkConfig = {
    kind: 'statsd',
    host: 'statsd.invalid',
    port: 8125,
    protocol: 'udp',
    isDefault: false,
  }
  const sink = await openSink({ flushIntervalMs: 5, extraTags: new Map(), sink: choice }, context)
  t.after(() => sink[Symbol.asyncDispose]())
  for (let i = 0; i < 12_000 && context.logLines.length === 0; i += 1) {
    await sleep(10)
  }
  assert.equal(context.logLines.length, 1)
  assert.match(context.logLines[0] ?? '', /statsd at statsd\.invalid:8125/)
})

test('DISABLE_STATS sends nothing and reads nothing', async () => {
  const context = createSinkContext()
  const sink = await openSink(
    { flushIntervalMs: 1, extraTags: new Map(), sink: { kind: 'none' } },
    context,
  )
  const timer = context.statistics.timer('t')
  await sink.flush()
  assert.equal(timer.observer, undefined)
  assert.equal(context.statistics.dropped, undefined)
  await sink[Symbol.asyncDispose]()
})
