import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDuration } from '@portcullis/service-kit/settings/duration'
import fc from 'fast-check'

const durations: readonly (readonly [string, number])[] = [
  ['0', 0],
  ['0s', 0],
  ['300ms', 300],
  ['1.5h', 5_400_000],
  ['2h45m', 9_900_000],
  ['1h30m10.5s', 5_410_500],
  ['.5s', 500],
  ['1.s', 1_000],
  ['75us', 0.075],
  ['75µs', 0.075],
  ['75μs', 0.075],
  ['100ns', 0.0001],
  ['1.1s', 1_100],
]
for (const [text, ms] of durations) {
  test(`${text} is ${ms} milliseconds`, () => {
    assert.equal(parseDuration(text), ms)
  })
}

for (const text of ['', '5', '1.5', 's', '.s', '1 s', '1d', '-1s', '1h-2m', '1s2', 'abc', '1e3s']) {
  test(`${JSON.stringify(text)} is not a duration`, () => {
    assert.equal(parseDuration(text), undefined)
  })
}

test('a duration beyond the range of Go is refused', () => {
  assert.equal(parseDuration('2562047h'), 2_562_047 * 3_600_000)
  assert.equal(parseDuration('3000000h'), undefined)
})

test('a bare number is seconds only with bareSeconds', () => {
  assert.equal(parseDuration('90', { bareSeconds: true }), 90_000)
  assert.equal(parseDuration('0.5', { bareSeconds: true }), 500)
  assert.equal(parseDuration('90s', { bareSeconds: true }), 90_000)
  assert.equal(parseDuration('90'), undefined)
})

test('any sequence of whole parts adds up', () => {
  const parts = fc.record({
    h: fc.nat(9_999),
    m: fc.nat(9_999),
    s: fc.nat(9_999),
    ms: fc.nat(9_999),
  })
  fc.assert(
    fc.property(parts, ({ h, m, s, ms }) => {
      const expected = h * 3_600_000 + m * 60_000 + s * 1_000 + ms
      assert.equal(parseDuration(`${h}h${m}m${s}s${ms}ms`), expected)
    }),
  )
})
