import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  secondsUntilReset,
  toCounterKey,
  toOverlapMs,
  windowStart,
} from '../../src/decide/windows.ts'
import { descriptor } from '../support/decider.ts'

test('the name of a counter is prefix, domain, and every key with its value', () => {
  const { entries } = descriptor('a=1', 'b=2')
  const toKey = (prefix: string, shared?: readonly (string | undefined)[]) =>
    toCounterKey(prefix, 'd', { ...descriptor(), entries }, shared)
  assert.equal(toKey(''), 'd_a_1_b_2_')
  assert.equal(toKey('test:'), 'test:d_a_1_b_2_')
})

test('a value that the rule shares stands in place of the one of the request', () => {
  const key = toCounterKey('', 'd', descriptor('a=1', 'b=2'), [undefined, 'b*'])
  assert.equal(key, 'd_a_1_b_b*_')
})

test('a window begins at a multiple of its length, and ends one length later', () => {
  assert.deepEqual(
    [119, 120, 179].map((now) => [windowStart(now, 60), secondsUntilReset(now, 60)]),
    [
      [60, 1],
      [120, 60],
      [120, 1],
    ],
  )
})

test('all of the window before overlaps at the start of one, and 1 ms at its end', () => {
  assert.equal(toOverlapMs(120_000, 120, 60), 60_000)
  assert.equal(toOverlapMs(120_000.9, 120, 60), 60_000)
  assert.equal(toOverlapMs(179_999, 120, 60), 1)
})
