import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Families } from '../../../src/metrics/prometheus/families.ts'
import { collectLog } from '../../support/collected-log.ts'

const head = { name: 'hits', help: 'All hits' }

test('a row is removed with its last counter, and a table of one name with its last row', () => {
  const { log } = collectLog()
  const families = new Families([], log)
  const table = families.table('counter', head)
  const row = table?.row('{a="1"}').join().join()
  row?.leave()
  assert.equal(table?.rows.size, 1)
  row?.leave()
  assert.equal(table?.rows.size, 0)
  assert.deepEqual([...families], [])
})

test('a name has one type, and each conflict is logged once', () => {
  const { log, lines } = collectLog()
  const families = new Families([], log)
  assert.ok(families.table('counter', head))
  assert.ok(families.histogram({ name: 'time', help: 'Time' }, '', [1]))
  for (let round = 0; round < 2; round += 1) {
    assert.equal(families.table('gauge', head), undefined)
    assert.equal(families.histogram(head, '', [1]), undefined)
    assert.equal(families.table('counter', { name: 'time_count', help: '' }), undefined)
  }
  assert.ok(families.table('counter', { name: 'size_sum', help: '' }))
  assert.equal(families.histogram({ name: 'size', help: '' }, '', [1]), undefined)
  assert.deepEqual(
    lines.map(
      (line) => /^warning .*: a metric of another type already has the name (\w+)$/.exec(line)?.[1],
    ),
    ['hits', 'time_count', 'size'],
  )
})

test('at most 20 conflicts are logged', () => {
  const { log, lines } = collectLog()
  const families = new Families([], log)
  for (let i = 0; i < 50; i += 1) {
    families.table('counter', { name: `n${i}`, help: '' })
    families.table('gauge', { name: `n${i}`, help: '' })
  }
  assert.equal(lines.length, 20)
})

test('common labels are on each series; a label of the same name wins unless the caller prefers the common one', () => {
  const { log } = collectLog()
  const families = new Families([['env', 'live']], log)
  assert.equal(families.toLabelText([]), '{env="live"}')
  assert.equal(families.toLabelText([['env', 'own']]), '{env="own"}')
  assert.equal(families.toLabelText([['env', 'own']], true), '{env="live"}')
})

test('the same labels are the same series', () => {
  const { log } = collectLog()
  const families = new Families([], log)
  assert.equal(families.histogram(head, '{a="1"}', [1]), families.histogram(head, '{a="1"}', [1]))
  assert.notEqual(families.histogram(head, '{a="2"}', [1]), families.histogram(head, '', [1]))
})

test('a histogram counts a value on a bound in the bucket below it', () => {
  const { log } = collectLog()
  const histogram = new Families([], log).histogram(head, '', [1, 5])
  for (const value of [0.5, 1, 1.5, 5, 6]) histogram?.observe(value)
  assert.deepEqual([...(histogram?.counts ?? [])], [2, 2, 1])
  assert.equal(histogram?.sum, 14)
})
