import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findUnstorable } from '../src/stored-json.ts'

test('values that PostgreSQL can store are accepted', () => {
  for (const json of [
    undefined,
    null,
    1,
    'text',
    '\\u0000',
    '😀',
    { a: [{ b: null }, true, ''] },
  ]) {
    assert.equal(findUnstorable(json), undefined, JSON.stringify(json))
  }
})

test('characters that cannot be stored are found in keys and values at any depth', () => {
  for (const json of [
    '\0',
    { a: ['x', { b: 'x\0' }] },
    { 'a\0': 1 },
    ['\ud800'],
    { a: 'x\udc00' },
  ]) {
    assert.equal(findUnstorable(json), 'has a character that cannot be stored')
  }
})

test('values that are nested too deep are refused without a stack overflow', () => {
  const nest = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
  assert.equal(findUnstorable(nest(200)), undefined)
  assert.match(findUnstorable(nest(201)) ?? '', /more than 200 levels/)
  assert.match(findUnstorable(nest(100_000)) ?? '', /more than 200 levels/)
})
