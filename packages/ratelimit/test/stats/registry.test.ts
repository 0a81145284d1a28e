import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Statistics } from '../../src/stats/registry.ts'

async function listLines(statistics: Statistics): Promise<string[]> {
  const lines: string[] = []
  for await (const [name, value] of statistics.lines()) lines.push(`${name}: ${value}`)
  return lines
}

test('every statistic of a rule is listed, zeros included, in order', async () => {
  const statistics = new Statistics({ maxRequestKeys: 10 })
  statistics.rules.forRule('mongo_cps.database_users').totalHits += 2939
  statistics.rules.forRule('mongo_cps.database')
  statistics.counter('ratelimit.service.config_load_success').value += 1
  statistics.gauge('ratelimit_z', () => 7)

  const key = 'ratelimit.service.rate_limit.mongo_cps'
  assert.deepEqual(await listLines(statistics), [
    'ratelimit.service.config_load_success: 1',
    `${key}.database.near_limit: 0`,
    `${key}.database.over_limit: 0`,
    `${key}.database.over_limit_with_local_cache: 0`,
    `${key}.database.shadow_mode: 0`,
    `${key}.database.total_hits: 0`,
    `${key}.database.within_limit: 0`,
    `${key}.database_users.near_limit: 0`,
    `${key}.database_users.over_limit: 0`,
    `${key}.database_users.over_limit_with_local_cache: 0`,
    `${key}.database_users.shadow_mode: 0`,
    `${key}.database_users.total_hits: 2939`,
    `${key}.database_users.within_limit: 0`,
    'ratelimit_z: 7',
  ])
})

test('the same name is the same counter', () => {
  const statistics = new Statistics({ maxRequestKeys: 10 })
  assert.equal(statistics.counter('a'), statistics.counter('a'))
  assert.equal(statistics.timer('a'), statistics.timer('a'))
  assert.equal(statistics.rules.forRule('a'), statistics.rules.forRule('a'))
  assert.equal(statistics.rules.forRequest('a'), statistics.rules.forRule('a'))
  assert.equal(statistics.unknownDomain('a'), statistics.unknownDomain('a'))
})

test('a key that is named after request values keeps its counts when a reload makes it a rule', async () => {
  const statistics = new Statistics({ maxRequestKeys: 10 })
  statistics.rules.forRequest('d.k_v').totalHits += 3
  statistics.rules.forRule('d.k_v').totalHits += 1
  statistics.rules.forRequest('d.k_v').totalHits += 1
  const totals = (await listLines(statistics)).filter((line) => line.includes('total_hits'))
  assert.deepEqual(totals, ['ratelimit.service.rate_limit.d.k_v.total_hits: 5'])
})

test('a timer lists its count, sum and maximum', async () => {
  const statistics = new Statistics({ maxRequestKeys: 10 })
  const timer = statistics.timer('t')
  timer.observe(2)
  timer.observe(5)
  assert.deepEqual(await listLines(statistics), ['t.count: 2', 't.max_ms: 5', 't.sum_ms: 7'])
})

test('keys that are named after request values are bounded, and dropped ones are passed on first', () => {
  const statistics = new Statistics({ maxRequestKeys: 100 })
  const forgotten = new Map<string, number>()
  statistics.dropped = (counters) => {
    for (const [key, { totalHits }] of counters) forgotten.set(key, totalHits)
  }
  for (let i = 0; i < 10_000; i += 1) {
    statistics.rules.forRequest(`k${i}`).totalHits += 1
    statistics.rules.forRequest('always in use').totalHits += 1
  }
  assert.ok(statistics.rules.size <= 100, `${statistics.rules.size} keys are kept`)
  assert.equal(statistics.rules.forRequest('always in use').totalHits, 10_000)
  assert.equal(forgotten.has('always in use'), false)
  assert.equal(forgotten.size + statistics.rules.size, 10_001)
})

test('unknown domains are bounded too', async () => {
  const statistics = new Statistics({ maxRequestKeys: 100 })
  for (let i = 0; i < 10_000; i += 1) statistics.unknownDomain(`d${i}`).value += 1
  const lines = await listLines(statistics)
  assert.ok(lines.length <= 100)
  assert.equal(lines.at(-1), 'ratelimit.service.rate_limit.d9999.domain_not_found: 1')
})

test('tens of thousands of rules are sorted a slice at a time', async () => {
  const statistics = new Statistics({ maxRequestKeys: 10 })
  for (let i = 0; i < 30_000; i += 1) statistics.rules.forRule(`d.key_${(i * 7919) % 30_000}`)
  let turns = 0
  const countTurns = () => {
    turns += 1
    turn = setImmediate(countTurns)
  }
  let turn = setImmediate(countTurns)
  let previous = ''
  let count = 0
  for await (const [name] of statistics.lines()) {
    count += 1
    if (count % 6 !== 1) continue
    assert.ok(previous < name, `${previous} is listed before ${name}`)
    previous = name
  }
  clearImmediate(turn)
  assert.equal(count, 180_000)
  assert.ok(turns > 20, `the event loop turned only ${turns} times`)
})
