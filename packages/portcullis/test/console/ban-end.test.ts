import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatBanEnd, permanentBanYears } from '../../src/web/ban-end.ts'

const now = Date.parse('2026-11-15T12:00:00')
const yearMs = 365 * 24 * 3_600_000

test('a permanent ban is shown without its technical end, also years later', () => {
  const until = now + permanentBanYears * yearMs
  assert.equal(formatBanEnd(until, now), 'permanently')
  assert.equal(formatBanEnd(new Date(until).toISOString(), now + 20 * yearMs), 'permanently')
})

test('any other ban is shown with its end', () => {
  assert.equal(formatBanEnd('2027-11-15T12:00:00', now), 'until 15 Nov 2027, 12:00:00')
  assert.equal(formatBanEnd(now - 1, now), 'until 15 Nov 2026, 11:59:59')
})
