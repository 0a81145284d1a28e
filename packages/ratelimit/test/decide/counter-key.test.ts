import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CounterKeyTemplate, type KeyFormat, toCounterKey } from '../../src/decide/counter-key.ts'
import { descriptor } from '../support/decider.ts'

interface Named {
  readonly prefix?: string
  readonly domain?: string
  readonly windowSeconds?: number
  readonly sharedValues?: readonly (string | undefined)[]
}

const toKey = (keyFormat: KeyFormat, entries: readonly string[], named: Named = {}) =>
  toCounterKey(
    { cacheKeyPrefix: named.prefix ?? '', keyFormat },
    named.domain ?? 'd',
    descriptor(...entries),
    { windowSeconds: named.windowSeconds ?? 60, sharedValues: named.sharedValues },
  )

test('the name of a counter is prefix, domain, and every key with its value', () => {
  assert.equal(toKey('compatible', ['a=1', 'b=2']), 'd_a_1_b_2_')
  assert.equal(toKey('compatible', ['a=1', 'b=2'], { prefix: 'test:' }), 'test:d_a_1_b_2_')
  assert.equal(toKey('exact', ['a=1', 'b=2'], { prefix: 'test:' }), 'test:d_a_1_b_2_60s_')
})

test('the pattern of a shared rule replaces the value of the request', () => {
  const sharedValues = [undefined, 'b*']
  assert.equal(toKey('compatible', ['a=1', 'b=2'], { sharedValues }), 'd_a_1_b_b*_')
})

test('an exact name contains the window, and separators in values are escaped', () => {
  assert.equal(
    toKey('exact', ['a=x_y%z \n\x7f'], { windowSeconds: 3_600 }),
    'd_a_x%5Fy%25z%20%0A%7F_3600s_',
  )
  assert.equal(toKey('exact', ['a=größe🦀']), 'd_a_größe🦀_60s_')
  assert.notEqual(toKey('exact', ['a=\ud800']), toKey('exact', ['a=\ud801']))
  assert.equal(toKey('exact', ['generic_key=slow']), 'd_generic_key_slow_60s.0.1_')
})

test('no two descriptors of a model have the same exact name, and many have the same compatible one', () => {
  const names = ['a', 'a_b', 'b', '_', 'a_']
  const values = ['', 'a', 'b', '_', 'a_b', 'b_a', '%5F', 'a_b_a']
  const domains = ['d', 'd_a', 'a']
  const entries = names.flatMap((name) => values.map((value) => `${name}=${value}`))
  const lists = [
    ...entries.map((one) => [one]),
    ...entries.flatMap((one) => entries.map((two) => [one, two])),
  ]
  const exact = new Set<string>()
  const compatible = new Set<string>()
  let count = 0
  for (const domain of domains) {
    for (const list of lists) {
      for (const windowSeconds of [1, 60]) {
        count += 1
        exact.add(toKey('exact', list, { domain, windowSeconds }))
        compatible.add(toKey('compatible', list, { domain, windowSeconds }))
      }
    }
  }
  assert.equal(exact.size, count)
  assert.ok(compatible.size < count / 2)
})

test('a template creates the same names', () => {
  const texts = ['', '1', 'a_b', '%5F', 'x y', 'größe🦀', '\ud800', '\x7f', '~!']
  for (const keyFormat of ['exact', 'compatible'] as const) {
    for (const keys of [['a'], ['a', 'b_c'], ['generic_key', 'x', 'y']]) {
      for (const sharedValues of [undefined, ['s_*'], [undefined, 'shared']]) {
        const settings = { cacheKeyPrefix: 'p:', keyFormat }
        const rule = { windowSeconds: 60, sharedValues }
        const template = new CounterKeyTemplate(settings, 'd_e', keys, rule)
        for (const [index, text] of texts.entries()) {
          const values = keys.map((_, at) => texts[(index + at) % texts.length] ?? text)
          const entries = keys.map((key, at) => `${key}=${values[at]}`)
          assert.equal(
            template.toKey(values),
            toCounterKey(settings, 'd_e', descriptor(...entries), rule),
          )
        }
      }
    }
  }
})
