import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDogStatsdFormat } from '@portcullis/service-kit/metrics/lines/dogstatsd-format'
import { openSink } from '../../../src/stats/sinks/index.ts'
import { type Mogrifier, mogrify, toMogrifiers } from '../../../src/stats/sinks/mogrify.ts'
import { createSinkContext, neverMs } from './support/sink-context.ts'
import { openUdpStatsd } from './support/statsd-server.ts'

const prefix = 'DOG_STATSD_MOGRIFIER'
const environment = {
  [`${prefix}_RULE_PATTERN`]: '^ratelimit\\.service\\.rate_limit\\.([^.]+)\\.(.+)\\.([^.]+)$',
  [`${prefix}_RULE_NAME`]: 'ratelimit.rule.$3',
  [`${prefix}_RULE_TAGS`]: 'domain:$1,descriptor:$2,fixed:yes',
  [`${prefix}_ANY_PATTERN`]: 'rate_limit|memcache',
  [`${prefix}_ANY_NAME`]: 'other.$0.$7',
  [`${prefix}_ANY_TAGS`]: '',
}

function readMogrifiers() {
  return toMogrifiers(['rule', 'any'], environment, (message) => assert.fail(message))
}

test('DogStatsD receives tags over UDP, including those of mogrifiers', async (t) => {
  const context = createSinkContext()
  const { statistics } = context
  const { port, received } = await openUdpStatsd(t)
  const sink = await openSink(
    {
      flushIntervalMs: neverMs,
      extraTags: new Map([
        ['version', '1.2.3'],
        ['env', 'a,b|c'],
      ]),
      sink: { kind: 'dogstatsd', host: 'localhost', port, mogrifiers: readMogrifiers() },
    },
    context,
  )
  statistics.rules.forRule('d.k_v.k2').totalHits += 3
  statistics.counter('ratelimit.memcache.multiget.__code=success').value += 1
  statistics.counter('plain').value += 1
  statistics.gauge('g', () => 1.5)
  statistics.timer('t').observe(2)
  await sink[Symbol.asyncDispose]()
  await received.until(() => received.lines.length >= 5, 'the last flush')
  received.check()
  const extra = 'env:a_b_c'
  assert.deepEqual(received.lines.toSorted(), [
    `g:1.500000|g|#${extra},version:1.2.3`,
    `other.memcache.:1|c|#code:success,${extra},version:1.2.3`,
    `plain:1|c|#${extra},version:1.2.3`,
    `ratelimit.rule.total_hits:3|c|#descriptor:k_v.k2,domain:d,${extra},fixed:yes,version:1.2.3`,
    `t:2|ms|#${extra},version:1.2.3`,
  ])
})

function createFormat(mogrifiers: readonly Mogrifier[]) {
  return createDogStatsdFormat([], (name) => mogrify(name, mogrifiers))
}

test('without tags a line has none', () => {
  assert.equal(createFormat([])('counter', 'a', [], 1), 'a:1|c\n')
})

test('the first mogrifier that matches wins, and a name is tested without its tags', () => {
  const format = createFormat(readMogrifiers())
  assert.equal(
    format('counter', 'ratelimit.service.rate_limit.d.k.total_hits', [], 1),
    'ratelimit.rule.total_hits:1|c|#descriptor:k,domain:d,fixed:yes\n',
  )
  assert.equal(
    format('gauge', 'x', [['rate_limit', 'memcache']], 1),
    'x:1|g|#rate_limit:memcache\n',
  )
})

test('a dot in a pattern matches any character, including line breaks', () => {
  const format = createFormat(readMogrifiers())
  for (const value of ['a\u2028b', 'a\u2029b']) {
    const sent = format('counter', `ratelimit.service.rate_limit.d.k_${value}.total_hits`, [], 1)
    assert.match(sent, /^ratelimit\.rule\.total_hits:1\|c\|#descriptor:k_a.b,domain:d/s)
  }
  const [first] = readMogrifiers()
  assert.ok(first?.pattern.test('ratelimit.service.rate_limit.d.k_a\nb.total_hits'))
})

test('a name with very many dots is sent unchanged and quickly', () => {
  const pattern = /^(.*)\.(.*)\.(.*)\.(.*)\.(.*)!$/
  const format = createFormat([{ pattern, name: 'x', tags: new Map() }])
  const name = '.'.repeat(1_000)
  assert.equal(format('counter', name, [], 1), `${name}:1|c\n`)
})
