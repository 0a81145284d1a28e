import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { ruleStatistics } from '../../../../src/stats/rule-statistics.ts'
import { openSink } from '../../../../src/stats/sinks/index.ts'
import type { PrometheusConfig } from '../../../../src/stats/sinks/prometheus/prometheus.ts'
import { type ParsedFamily, parsePrometheus, type Sample } from '../support/prometheus-text.ts'
import { createSinkContext, neverMs, type TestSinkContext } from '../support/sink-context.ts'

interface PrometheusOptions extends Partial<PrometheusConfig> {
  readonly extraTags?: ReadonlyMap<string, string>
}

async function openPrometheus(
  t: TestContext,
  context: TestSinkContext,
  { extraTags = new Map(), ...settings }: PrometheusOptions = {},
) {
  const sink = await openSink(
    {
      flushIntervalMs: neverMs,
      extraTags,
      sink: {
        kind: 'prometheus',
        host: '127.0.0.1',
        port: 0,
        path: '/metrics',
        mapperPath: undefined,
        usesMilliseconds: false,
        ...settings,
      },
    },
    context,
  )
  t.after(() => sink[Symbol.asyncDispose]())
  const url = `http://${sink.address}/metrics`
  const scrape = async (): Promise<Map<string, ParsedFamily>> => {
    const response = await fetch(url)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
    return parsePrometheus(await response.text())
  }
  return { sink, url, scrape }
}

/** Omits the name, which is that of the family. */
function list(family: ParsedFamily | undefined): Pick<Sample, 'labels' | 'value'>[] {
  return (family?.samples ?? []).map(({ labels, value }) => ({ labels, value }))
}

test('rules have their labels, and deeper levels are summed', async (t) => {
  const context = createSinkContext({ domains: ['d', 'my.dotted.domain', 'my.dotted'] })
  const { rules } = context.statistics
  rules.forRule('d.k_v').totalHits += 1
  rules.forRule('d.k_v.k2').totalHits += 2
  rules.forRule('d.k_v.k2.k3_a').totalHits += 4
  rules.forRule('d.k_v.k2.k3_b.k4').totalHits += 8
  rules.forRequest('my.dotted.domain.k_1.k2').totalHits += 16
  rules.forRule('unknown.k.k2').totalHits += 32
  const { scrape } = await openPrometheus(t, context)
  const families = await scrape()
  assert.deepEqual(list(families.get('ratelimit_service_rate_limit_total_hits')), [
    { labels: { domain: 'd', key1: 'k_v' }, value: 1 },
    { labels: { domain: 'd', key1: 'k_v', key2: 'k2' }, value: 14 },
    { labels: { domain: 'unknown', key1: 'k', key2: 'k2' }, value: 32 },
    { labels: { domain: 'my.dotted.domain', key1: 'k_1', key2: 'k2' }, value: 16 },
  ])
  for (const [statistic] of ruleStatistics) {
    const family = families.get(`ratelimit_service_rate_limit_${statistic}`)
    assert.equal(family?.type, 'counter')
    assert.equal(family.samples.length, 4)
  }
})

test('a rule has its series from its first hit on', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'mapper-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const mapperPath = join(directory, 'mapper.yaml')
  writeFileSync(mapperPath, 'mappings: []')
  for (const names of [{}, { mapperPath }]) {
    const context = createSinkContext({ domains: ['d'] })
    const { rules } = context.statistics
    for (let i = 0; i < 100; i += 1) rules.forRule(`d.unused_${i}`)
    const used = rules.forRule('d.used')
    context.statistics.counter('other')
    const { scrape } = await openPrometheus(t, context, names)
    assert.deepEqual([...(await scrape()).keys()], ['other'])
    used.withinLimit += 1
    for (const round of [1, 2]) {
      const families = [...(await scrape()).values()]
      assert.equal(families.length, 1 + ruleStatistics.length, `round ${round}`)
      assert.ok(families.every(({ samples }) => samples.length === 1))
    }
  }
})

test('every name of envoyproxy/ratelimit is present', async (t) => {
  const processGauges = () => [['ratelimit.node.memory.rss', 1e21] as const]
  const context = createSinkContext({ processGauges })
  const { statistics } = context
  statistics.counter('ratelimit.service.call.should_rate_limit.redis_error').value += 1
  statistics.counter('ratelimit.service.call.should_rate_limit.service_error').value += 2
  statistics.counter('ratelimit_server.ShouldRateLimit.total_requests').value += 3
  statistics.counter('ratelimit.service.config_load_success').value += 4
  statistics.counter('ratelimit.service.config_load_error')
  statistics.counter('ratelimit.memcache.multiget.__code=success').value += 5
  statistics.gauge('ratelimit.redis_pool.cx-active', () => 6)
  statistics.unknownDomain('a.b').value += 7
  statistics.rules.forRule('d.k.deep.er').overLimitWithLocalCache += 8
  statistics.rules.forRule('d.k2').totalHits += 9
  const { scrape } = await openPrometheus(t, context)
  const families = await scrape()
  const shown = [...families]
    .filter(([name]) => !/_(?:limit|hits|mode)$/.test(name))
    .map(([name, family]) => [name, family.type, list(family)])
  assert.deepEqual(shown, [
    ['ratelimit_memcache_multiget', 'counter', [{ labels: { code: 'success' }, value: 5 }]],
    ['ratelimit_node_memory_rss', 'gauge', [{ labels: {}, value: 1e21 }]],
    ['ratelimit_redis_pool_cx_active', 'gauge', [{ labels: {}, value: 6 }]],
    ['ratelimit_service_config_load_error', 'counter', [{ labels: {}, value: 0 }]],
    ['ratelimit_service_config_load_success', 'counter', [{ labels: {}, value: 4 }]],
    ['ratelimit_service_rate_limit_a_b_domain_not_found', 'counter', [{ labels: {}, value: 7 }]],
    [
      'ratelimit_service_rate_limit_d_k_deep_er_over_limit_with_local_cache',
      'counter',
      [{ labels: {}, value: 8 }],
    ],
    [
      'ratelimit_service_rate_limit_domain_not_found',
      'counter',
      [{ labels: { domain: 'a.b' }, value: 7 }],
    ],
    [
      'ratelimit_service_rate_limit_over_limit_with_local_cache',
      'counter',
      [
        { labels: { domain: 'd', key1: 'k', key2: 'deep' }, value: 8 },
        { labels: { domain: 'd', key1: 'k2' }, value: 0 },
      ],
    ],
    [
      'ratelimit_service_should_rate_limit_error',
      'counter',
      [
        { labels: { err_type: 'redis_error' }, value: 1 },
        { labels: { err_type: 'service_error' }, value: 2 },
      ],
    ],
    [
      'ratelimit_service_total_requests',
      'counter',
      [{ labels: { grpc_method: 'ShouldRateLimit' }, value: 3 }],
    ],
  ])
})

for (const usesMilliseconds of [false, true]) {
  const unit = usesMilliseconds ? 'milliseconds' : 'seconds'
  test(`response times are a histogram in ${unit}, exact below a millisecond`, async (t) => {
    const context = createSinkContext()
    const { scrape } = await openPrometheus(t, context, { usesMilliseconds })
    const timer = context.statistics.timer('ratelimit_server.ShouldRateLimit.response_time')
    const durationsMs = [0.25, 0.5, 5, 5.5, 700, 60_000]
    for (const durationMs of durationsMs) timer.observe(durationMs)
    const family = (await scrape()).get('ratelimit_service_response_time_seconds')
    assert.equal(family?.type, 'histogram')
    const scale = usesMilliseconds ? 1 : 0.001
    const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, Infinity]
    const samples = family.samples
    assert.deepEqual(
      samples.filter(({ name }) => name.endsWith('_bucket')).map(({ value }) => value),
      bounds.map((bound) => durationsMs.filter((ms) => ms * scale <= bound).length),
    )
    const sum = samples.find(({ name }) => name.endsWith('_sum'))
    const expected = durationsMs.reduce((total, ms) => total + ms * scale, 0)
    assert.ok(Math.abs((sum?.value ?? 0) - expected) < 1e-9)
    assert.deepEqual(sum?.labels, { grpc_method: 'ShouldRateLimit' })
  })
}

test('extra tags are real labels, whatever their names and values are', async (t) => {
  const context = createSinkContext()
  const { statistics } = context
  statistics.rules.forRule('d.k_"q"\\.x').totalHits += 1
  statistics.timer('ratelimit_server.Check.response_time').observe(1)
  const extraTags = new Map([
    ['my-env', 'a.b\n"c\\'],
    ['domain', 'not this one'],
    ['le', '5'],
    ['1st', 'x'],
    ['empty', ''],
  ])
  const { scrape } = await openPrometheus(t, context, { extraTags })
  const families = await scrape()
  const tags = { my_env: 'a.b\n"c\\', tag_le: '5', tag_1st: 'x' }
  const [total] = list(families.get('ratelimit_service_rate_limit_total_hits'))
  assert.deepEqual(total?.labels, { ...tags, domain: 'd', key1: 'k_"q"\\', key2: 'x' })
  const histogram = families.get('ratelimit_service_response_time_seconds')
  assert.deepEqual(histogram?.samples.at(-1)?.labels, {
    ...tags,
    domain: 'not this one',
    grpc_method: 'Check',
  })
})

test('a series never decreases while it has counters, and disappears with the last one', async (t) => {
  const context = createSinkContext({ maxRequestKeys: 10, domains: ['d'] })
  const { statistics } = context
  statistics.rules.forRule('d.a.b')
  const { scrape } = await openPrometheus(t, context)
  for (let i = 0; i < 200; i += 1) {
    statistics.rules.forRequest(`d.a.b.c_${i}`).totalHits += 1
    statistics.rules.forRequest(`d.e_${i}`).totalHits += 1
    statistics.unknownDomain(`x${i}`).value += 1
    if (i % 50 === 0) await scrape()
  }
  const families = await scrape()
  const totals = list(families.get('ratelimit_service_rate_limit_total_hits'))
  assert.ok(totals.length <= 11, `${totals.length} series`)
  const shared = totals.find(({ labels }) => labels['key2'] === 'b')
  assert.equal(shared?.value, 200)
  assert.ok(list(families.get('ratelimit_service_rate_limit_domain_not_found')).length <= 10)
})

test('whatever happens, sums over all series are the counters', async (t) => {
  const context = createSinkContext({ maxRequestKeys: 6 })
  const { statistics } = context
  for (let i = 0; i < 4; i += 1) statistics.rules.forRule(`d.k.${i}`)
  const { scrape } = await openPrometheus(t, context)
  const expected = new Map<string, number>()
  const action = fc.record({
    group: fc.integer({ min: 0, max: 3 }),
    deep: fc.integer({ min: 0, max: 30 }),
    statistic: fc.constantFrom(...ruleStatistics),
    by: fc.integer({ min: 1, max: 1_000 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 50 }), async (actions) => {
      for (const { group, deep, statistic, by } of actions) {
        statistics.rules.forRequest(`d.k.${group}.${deep}`)[statistic[1]] += by
        const name = `${statistic[0]} ${group}`
        expected.set(name, (expected.get(name) ?? 0) + by)
      }
      const families = await scrape()
      for (const [name, value] of expected) {
        const [statistic, group] = name.split(' ')
        const series = list(families.get(`ratelimit_service_rate_limit_${statistic}`))
        assert.equal(series.find(({ labels }) => labels['key2'] === group)?.value, value)
      }
    }),
    { numRuns: 30, examples: [[[]]] },
  )
})

test('thousands of rules are sent in slices, to several clients at once', async (t) => {
  const context = createSinkContext()
  const { statistics } = context
  const count = 12_000
  for (let i = 0; i < count; i += 1) statistics.rules.forRule(`d.key_${i}`).totalHits += 1
  const { url, scrape } = await openPrometheus(t, context)
  let turns = 0
  const turn = setInterval(() => {
    turns += 1
  }, 0)
  const [families, other] = await Promise.all([scrape(), fetch(url).then((r) => r.text())])
  clearInterval(turn)
  assert.ok(turns > 20, `the event loop turned only ${turns} times`)
  const totals = families.get('ratelimit_service_rate_limit_total_hits')
  assert.equal(totals?.samples.length, count)
  assert.ok(totals.samples.every(({ value }) => value === 1))
  assert.equal(parsePrometheus(other).size, families.size)
})

test('a reader that stops reading or disconnects blocks no other', async (t) => {
  const context = createSinkContext()
  const { statistics } = context
  // 15 MB: more than fits into the buffers of sockets.
  const long = 'long'.repeat(100)
  for (let i = 0; i < 5_000; i += 1) statistics.rules.forRule(`d.${long}_${i}`).totalHits += 1
  const { sink, scrape } = await openPrometheus(t, context)
  const [host, port] = (sink.address ?? '').split(':')
  const sockets = Array.from({ length: 3 }, () => connect(Number(port), host))
  for (const socket of sockets) {
    t.after(() => socket.destroy())
    socket.on('error', () => {}).pause()
    socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n')
  }
  const totals = (await scrape()).get('ratelimit_service_rate_limit_total_hits')
  assert.equal(totals?.samples.length, 5_000)
  sockets[0]?.destroy()
  await scrape()
  await sink[Symbol.asyncDispose]()
  assert.deepEqual(
    context.logLines.filter((line) => line.startsWith('error')),
    [],
  )
})

test('names that a mapping file creates from request values are dropped with them', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'mapper-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const mapperPath = join(directory, 'mapper.yaml')
  writeFileSync(mapperPath, 'mappings: []')
  const context = createSinkContext({ maxRequestKeys: 10 })
  const { scrape } = await openPrometheus(t, context, { mapperPath })
  for (let i = 0; i < 500; i += 1) {
    context.statistics.rules.forRequest(`d.k_${i}`).totalHits += 1
    if (i % 100 === 0) await scrape()
  }
  const families = await scrape()
  assert.ok(families.size <= 60, `${families.size} names`)
  const last = families.get('ratelimit_service_rate_limit_d_k_499_total_hits')
  assert.deepEqual(list(last), [{ labels: {}, value: 1 }])
})

test('a name with two types has the first one, and this is logged once', async (t) => {
  const context = createSinkContext()
  const { statistics } = context
  statistics.counter('a.b').value += 1
  statistics.gauge('a_b', () => 2)
  statistics.timer('t')
  statistics.counter('t.count').value += 3
  const { scrape } = await openPrometheus(t, context)
  await scrape()
  const families = await scrape()
  assert.deepEqual([...families.keys()], ['a_b', 't'])
  assert.deepEqual(list(families.get('a_b')), [{ labels: {}, value: 1 }])
  const warnings = context.logLines.filter((line) => line.includes('of another type already'))
  assert.equal(warnings.length, 2)
})

test('other methods and paths are refused', async (t) => {
  const { url } = await openPrometheus(t, createSinkContext())
  assert.equal((await fetch(url, { method: 'POST' })).status, 405)
  assert.equal((await fetch(url, { method: 'HEAD' })).status, 200)
  assert.equal((await fetch(`${url}x`)).status, 404)
})

test('a port in use ends the startup with an explanation', async (t) => {
  const { sink } = await openPrometheus(t, createSinkContext())
  const port = Number(sink.address?.split(':')[1])
  const context = createSinkContext()
  await assert.rejects(openPrometheus(t, context, { port }), {
    message:
      `Metrics cannot be served on 127.0.0.1:${port} (listen EADDRINUSE: address already in use ` +
      `127.0.0.1:${port}): stop the program that uses port ${port}, or set PROMETHEUS_ADDR to another port.`,
  })
  assert.equal(context.statistics.dropped, undefined)
})

test('a mapping file replaces the built-in names', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'mapper-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const mapperPath = join(directory, 'mapper.yaml')
  writeFileSync(
    mapperPath,
    `mappings:
  - match: ratelimit.service.rate_limit.*.*.total_hits
    name: hits
    help: All of them
    labels: { domain: "$1", rule: "\${2}!" }
  - match: ratelimit.service.rate_limit.*.*.*
    action: drop
    name: dropped
  - match: ratelimit_server.*.response_time
    name: "time_of_$1"
    timer_type: histogram
    buckets: [0.1, 1]
`,
  )
  const context = createSinkContext()
  const { statistics } = context
  statistics.rules.forRule('d.k').totalHits += 2
  statistics.counter('some.other').value += 1
  const { scrape } = await openPrometheus(t, context, { mapperPath })
  statistics.timer('ratelimit_server.Check.response_time').observe(500)
  const families = await scrape()
  assert.deepEqual([...families.keys()], ['hits', 'some_other', 'time_of_Check'])
  assert.equal(families.get('hits')?.help, 'All of them')
  assert.deepEqual(list(families.get('hits')), [{ labels: { domain: 'd', rule: 'k!' }, value: 2 }])
  assert.deepEqual(
    families.get('time_of_Check')?.samples.map(({ value }) => value),
    [0, 1, 1, 0.5, 1],
  )

  writeFileSync(mapperPath, 'mappings:\n  - match: a.*\n    name: a\n    ttl: 5m\n')
  await assert.rejects(openPrometheus(t, createSinkContext(), { mapperPath }), {
    message:
      'PROMETHEUS_MAPPER_YAML is invalid:\n' +
      `  ${mapperPath}:4:10: ttl must be 0, because series do not expire`,
  })
  await assert.rejects(
    openPrometheus(t, createSinkContext(), { mapperPath: join(directory, 'none.yaml') }),
    {
      message: /^PROMETHEUS_MAPPER_YAML: \S+none\.yaml cannot be read: no such file or directory$/,
    },
  )
})
