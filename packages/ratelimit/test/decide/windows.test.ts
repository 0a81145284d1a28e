import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secondsUntilReset, toOverlapMs, windowStart } from '../../src/decide/windows.ts'

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

test('the previous window overlaps fully at the start of a window, and by 1 ms at its end', () => {
  assert.equal(toOverlapMs(120_000, 120, 60), 60_000)
  assert.equal(toOverlapMs(120_000.9, 120, 60), 60_000)
  assert.equal(toOverlapMs(179_999, 120, 60), 1)
})
