import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTime } from '@portcullis/service-kit/text/time'

test('dates and times with a time zone are parsed', () => {
  const noon = Date.UTC(2026, 2, 4, 12)
  assert.equal(parseTime('2026-03-04'), Date.UTC(2026, 2, 4))
  for (const text of [
    '2026-03-04T12:00Z',
    '2026-03-04T12:00:00Z',
    '2026-03-04t12:00:00.000000z',
    '2026-03-04T14:30:00+02:30',
    '2026-03-03T20:01:00-15:59',
  ])
    assert.equal(parseTime(text), noon, text)
  assert.equal(parseTime('2024-02-29'), Date.UTC(2024, 1, 29))
})

test('anything else is refused', () => {
  for (const text of [
    ...['', '3', '2026', '2026-3-4', 'now', 'Wed, 04 Mar 2026 12:00:00 GMT', ' 2026-03-04'],
    ...['2026-02-29', '2026-02-31T00:00:00Z', '2026-13-01', '2026-00-10', '0000-01-01'],
    ...['2026-03-04T12:00:00', '2026-03-04T12:00:00+16:00', '2026-03-04T25:00:00Z'],
    ...['2026-03-04 12:00:00Z', '2026-03-04T12:00:00.1234567Z', '2026-03-04\n'],
  ])
    assert.equal(parseTime(text), undefined, text)
})
