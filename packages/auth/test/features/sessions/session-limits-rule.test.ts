import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toLimitValues } from '../../../src/features/sessions/statements/session-limits.ts'

const now = Date.parse('2026-01-02T00:00:00Z')
const hour = 3_600_000

test('each limit is the time before which a session must not have begun or been used', () => {
  const values = toLimitValues(
    {
      timeboxMs: hour,
      inactivityMs: 2 * hour,
      lowAalMs: 3 * hour,
      singlePerUser: true,
      tags: ['mobile', 'web'],
    },
    now,
  )
  assert.deepEqual(values, {
    now: new Date('2026-01-02T00:00:00Z'),
    earliestCreation: new Date('2026-01-01T23:00:00Z'),
    earliestRefresh: new Date('2026-01-01T22:00:00Z'),
    earliestLowAalCreation: new Date('2026-01-01T21:00:00Z'),
    isSinglePerUser: true,
    tags: 'mobile,web',
  })
})

test('a limit that is not set allows every session', () => {
  const limits = { timeboxMs: undefined, inactivityMs: undefined, lowAalMs: undefined }
  const values = toLimitValues({ ...limits, singlePerUser: false, tags: [] }, now)
  const epoch = new Date(0)
  assert.deepEqual(values, {
    now: new Date(now),
    earliestCreation: epoch,
    earliestRefresh: epoch,
    earliestLowAalCreation: epoch,
    isSinglePerUser: false,
    tags: '',
  })
})
