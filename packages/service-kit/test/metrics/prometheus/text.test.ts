import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  escapeComment,
  toLabelText,
  toMetricName,
  toValueText,
} from '../../../src/metrics/prometheus/text.ts'

test('labels are sorted, and their values escaped', () => {
  assert.equal(toLabelText([]), '')
  const labels = [
    ['key', 'a"b\\c\nd'],
    ['domain', 'é'],
  ] as const
  assert.equal(toLabelText(labels), '{domain="é",key="a\\"b\\\\c\\nd"}')
})

test('a comment stays on one line and keeps its quotation marks', () => {
  assert.equal(escapeComment('a "b"\n\\c'), 'a "b"\\n\\\\c')
})

test('names have only characters that Prometheus allows', () => {
  assert.equal(toMetricName('a.b-c:d'), 'a_b_c:d')
  assert.equal(toMetricName('1st'), '_1st')
})

test('values that are not finite have their own texts', () => {
  const values = [0, -0, 0.1, 1e21, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN]
  assert.deepEqual(values.map(toValueText), ['0', '0', '0.1', '1e+21', '+Inf', '-Inf', 'NaN'])
})
