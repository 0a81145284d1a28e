import assert from 'node:assert/strict'
import { test } from 'node:test'
import rules from '@portcullis/ratelimit/schema/rules.schema.json' with { type: 'json' }
import {
  findSchemas,
  type JsonSchema,
  toFieldFacts,
} from '../../src/web/components/editor/yaml/json-schema.ts'
import { findCursor } from '../../src/web/components/editor/yaml/yaml-cursor.ts'

/** Finds the place of the cursor, which the text marks with `|`. */
function cursorIn(text: string) {
  const before = text.slice(0, text.indexOf('|')).split('\n')
  const lines = text.replace('|', '').split('\n')
  const cursor = findCursor(lines, before.length - 1, before.at(-1)?.length ?? 0)
  return cursor && { ...cursor, siblings: [...cursor.siblings].sort() }
}

const block = `domain: api
descriptors:
  # users
  - key: user
    rate_limit:
      unit: minute
`

test('the place of a key in block YAML is found by indentation', () => {
  const at = (text: string) => {
    const { path, key, word } = cursorIn(text) ?? {}
    return [path?.join('.'), key, word]
  }
  assert.deepEqual(at('|'), ['', undefined, ''])
  assert.deepEqual(at(`${block}do|`), ['', undefined, 'do'])
  assert.deepEqual(at(`${block}      re|`), ['descriptors.*.rate_limit', undefined, 're'])
  assert.deepEqual(at(`${block}    sh|`), ['descriptors.*', undefined, 'sh'])
  assert.deepEqual(at(`${block}  - k|`), ['descriptors.*', undefined, 'k'])
  assert.deepEqual(at(`${block}    descriptors:\n      - |`), [
    'descriptors.*.descriptors.*',
    undefined,
    '',
  ])
  // A list may start at the column of its key.
  assert.deepEqual(at('descriptors:\n- key: a\n  va|'), ['descriptors.*', undefined, 'va'])
  assert.deepEqual(at(`${block}      unit: mi|`), ['descriptors.*.rate_limit', 'unit', 'mi'])
  assert.equal(cursorIn('domain: api # do|'), undefined)
})

test('the place in braces is found within the line', () => {
  const at = (text: string) => {
    const { path, key, siblings } = cursorIn(text) ?? {}
    return [path?.join('.'), key, siblings]
  }
  assert.deepEqual(at('descriptors:\n  - key: a\n    rate_limit: { un|'), [
    'descriptors.*.rate_limit',
    undefined,
    [],
  ])
  assert.deepEqual(at('descriptors:\n  - { key: a, rate_limit: { unit: day, req|'), [
    'descriptors.*.rate_limit',
    undefined,
    ['unit'],
  ])
  assert.deepEqual(at('descriptors:\n  - { key: a, shadow_mode: t|'), [
    'descriptors.*',
    'shadow_mode',
    ['key', 'shadow_mode'],
  ])
})

test('keys that the map already has are not offered again', () => {
  assert.deepEqual(cursorIn(`${block}    |\n    value: 7\n  - key: other`)?.siblings, [
    'key',
    'rate_limit',
    'value',
  ])
  assert.deepEqual(cursorIn(`${block}  - |\n    value: 7`)?.siblings, ['value'])
})

test('a field is described by the schema behind references and alternatives', () => {
  const schema: JsonSchema = rules
  const facts = (...path: string[]) => toFieldFacts(findSchemas(schema, path))
  const nested = ['descriptors', '*', 'descriptors', '*', 'rate_limit']
  const unit = facts(...nested, 'unit')
  assert.deepEqual(unit.values, ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'])
  assert.match(unit.description ?? '', /time window/)
  assert.equal(facts(...nested).type, 'object')
  assert.deepEqual(facts('descriptors', '*', 'shadow_mode'), {
    description: 'Count and report hits, but never refuse a request.',
    type: 'boolean',
    values: ['true', 'false'],
    fallback: 'false',
    range: undefined,
  })
  assert.equal(facts(...nested, 'requests_per_unit').range, '0 to 4294967295')
  assert.deepEqual(findSchemas(schema, ['nowhere']), [])
})
