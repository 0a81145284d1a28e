import assert from 'node:assert/strict'
import { test } from 'node:test'
import { units } from '../../../src/rules/model/rule.ts'
import {
  parseInstantMs,
  parseSpanMs,
  parseWrittenLimit,
  toInstantText,
  toLimitForm,
} from '../../../src/tools/policy-tests/written-values.ts'

test('a duration is written as in Go, in units, or in seconds', () => {
  const spans: readonly (readonly [text: string, ms: number | undefined])[] = [
    ['60s', 60_000],
    ['1h30m', 5_400_000],
    ['500ms', 500],
    ['0', 0],
    ['90', 90_000],
    ['1.5', 1_500],
    ['1 minute', 60_000],
    ['5 Minutes', 300_000],
    ['2 days', 172_800_000],
    ['1 fortnight', undefined],
    ['-5s', undefined],
    ['', undefined],
    ['soon', undefined],
  ]
  for (const [text, ms] of spans) assert.equal(parseSpanMs(text), ms, text)
  for (const { name, seconds } of units) {
    assert.equal(parseSpanMs(`3 ${name.toLowerCase()}s`), 3 * seconds * 1000)
  }
})

test('a time is written in ISO 8601 with its zone, as a date, or in Unix seconds', () => {
  const start = Date.UTC(2026, 0, 1)
  assert.equal(parseInstantMs('2026-01-01'), start)
  assert.equal(parseInstantMs('2026-01-01T00:00Z'), start)
  assert.equal(parseInstantMs('2026-01-01T01:00:00+01:00'), start)
  assert.equal(parseInstantMs('2026-01-01T00:00:00.250Z'), start + 250)
  assert.equal(parseInstantMs(String(start / 1000)), start)
  for (const text of ['2026-01-01T00:00:00', '2026-13-01', '1969-12-31', '12:00', 'now', '']) {
    assert.equal(parseInstantMs(text), undefined, text)
  }
  assert.equal(toInstantText(start), '2026-01-01T00:00:00Z')
  assert.equal(toInstantText(start + 5), '2026-01-01T00:00:00.005Z')
})

test('a limit is normalized, however it is written', () => {
  for (const text of [
    '5/minute',
    '5 / Minute',
    '5 per minute',
    '5/1 minute',
    '5 every 1 minutes',
  ]) {
    assert.equal(toLimitForm(text), '5 per minute', text)
  }
  for (const text of ['5/10 minutes', '5 per 10 MINUTES', '5 every 10 minute']) {
    assert.equal(toLimitForm(text), '5 every 10 minutes', text)
  }
  for (const text of ['none', 'unlimited']) assert.equal(toLimitForm(text), text)
  for (const text of [
    '5',
    '5/',
    '/minute',
    '5/fortnight',
    '5/0 minutes',
    '-5/day',
    '5000000000/day',
  ]) {
    assert.equal(toLimitForm(text), undefined, text)
  }
  assert.equal(parseWrittenLimit('4294967295/2 years')?.windowSeconds, 63_072_000)
})
