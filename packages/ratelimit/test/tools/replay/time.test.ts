import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { parseIsoTime, parseTime } from '../../../src/tools/replay/time.ts'

suite('the time of a line', () => {
  test('an ISO date in UTC is parsed as Date.parse does it', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }),
        (date) => {
          assert.equal(parseIsoTime(date.toISOString()), date.getTime())
        },
      ),
    )
  })

  test('fractions of a millisecond are truncated', () => {
    assert.equal(parseTime('2026-01-01T00:00:00.123999Z'), Date.parse('2026-01-01T00:00:00.123Z'))
    assert.equal(parseTime('2026-01-01T00:00:00Z'), Date.parse('2026-01-01T00:00:00Z'))
    assert.equal(parseTime('2026-01-01T00:00:00.5Z'), Date.parse('2026-01-01T00:00:00.500Z'))
  })

  test('an offset from UTC is applied', () => {
    assert.equal(parseTime('2026-01-01T02:00:00+02:00'), Date.parse('2026-01-01T00:00:00Z'))
  })

  test('a number is interpreted as seconds, milliseconds, microseconds or nanoseconds by its size', () => {
    const expected = 1_767_225_600_123
    for (const value of [1_767_225_600.123, expected, expected * 1e3, '1767225600123000000']) {
      assert.equal(parseTime(value), expected, String(value))
    }
    assert.equal(parseTime('1767225600.123'), expected)
  })

  test('invalid times are refused', () => {
    const wrong = ['', '-', 'yesterday', '2026-13-01T00:00:00Z', '2026-01-32T00:00:00Z', null, {}]
    for (const value of [...wrong, '2026-02-30T00:00:00.1x3Z', -1, Number.NaN, undefined, 1e40]) {
      assert.equal(parseTime(value), undefined, String(value))
    }
  })

  test('February 29 is valid only in leap years', () => {
    assert.equal(parseTime('2024-02-29T12:00:00Z'), Date.UTC(2024, 1, 29, 12))
  })
})
