import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isNearDeadline, parseTimeoutMs } from '../../src/grpc/timeout.ts'

test('every unit of grpc-timeout is read', () => {
  const expected = { '1H': 3_600_000, '2M': 120_000, '3S': 3000, '20m': 20, '500u': 0.5, '0n': 0 }
  for (const [text, ms] of Object.entries(expected)) assert.equal(parseTimeoutMs(text), ms)
  assert.equal(parseTimeoutMs('99999999H'), 99_999_999 * 3_600_000)
  assert.ok(Math.abs((parseTimeoutMs('1000n') ?? 0) - 0.001) < 1e-9)
})

test('a malformed grpc-timeout is refused', () => {
  for (const text of ['', 'S', '1', '1x', '-1S', '1.5S', '123456789m', ' 1S', '1S ', '1SS']) {
    assert.equal(parseTimeoutMs(text), undefined, text)
  }
})

test('a call is near its deadline in its last quarter, and in its last five milliseconds', () => {
  assert.equal(isNearDeadline('20m', 1020, 1010), false)
  assert.equal(isNearDeadline('20m', 1020, 1015), true)
  assert.equal(isNearDeadline('4m', 1004, 1002), false)
  assert.equal(isNearDeadline('4m', 1004, 1003), true)
  assert.equal(isNearDeadline('', Number.POSITIVE_INFINITY, 1e12), false)
})
