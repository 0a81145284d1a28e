import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDogStatsdFormat } from '../../../src/metrics/lines/dogstatsd-format.ts'
import { createStatsdFormat } from '../../../src/metrics/lines/statsd-format.ts'

test('statsd has the type after the value, and tags in the name', () => {
  const format = createStatsdFormat([['zone', 'a.b']])
  assert.equal(format('counter', 'hits', [], 3), 'hits.__zone=a_b:3|c\n')
  assert.equal(
    format('gauge', 'size', [['code', 'x']], 2.5),
    'size.__code=x.__zone=a_b:2.500000|g\n',
  )
  assert.equal(createStatsdFormat([])('timer', 'time', [], 0.25), 'time:0.250000|ms\n')
})

test('DogStatsD has the tags after the type', () => {
  const format = createDogStatsdFormat([['zone', 'a.b,c|d']])
  assert.equal(format('counter', 'hits', [], 3), 'hits:3|c|#zone:a.b_c_d\n')
  assert.equal(format('gauge', 'size', [['code', 'x:y']], 1), 'size:1|g|#code:x:y,zone:a.b_c_d\n')
  assert.equal(createDogStatsdFormat([])('timer', 'time', [], 2), 'time:2|ms\n')
})

test('DogStatsD takes tags from a renamed metric', () => {
  const rename = (name: string) => ({ name: 'hits', tags: [['rule', name]] as const })
  const format = createDogStatsdFormat([['rule', 'overridden']], rename)
  assert.equal(format('counter', 'a.b', [['code', 'x']], 1), 'hits:1|c|#code:x,rule:a.b\n')
})
