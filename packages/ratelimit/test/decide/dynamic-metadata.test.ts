import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeMetadata, toDynamicMetadata } from '../../src/decide/respond.ts'
import { descriptor, openDecider, requestFor } from '../support/decider.ts'

const rules = `
domain: d
descriptors:
  - key: a
    metadata: { team: one, tags: [x], nested: { a: 1, both: 1 } }
    detailed_metric: true
    rate_limit: { unit: minute, requests_per_unit: 1 }
  - key: b
    metadata: { team: two, tags: [y], nested: { b: 2, both: 2 } }
    rate_limit: { unit: minute, requests_per_unit: 5 }
  - key: u
    metadata: { unlimited: yes }
    rate_limit: { unlimited: true }
`

test('the request and the metadata of the rules that allow it are returned', async (t) => {
  const decider = openDecider(t, rules, { settings: { addsDynamicMetadata: true } })
  const request = {
    ...requestFor(
      'd',
      descriptor('a=1', { hitsAddend: 1 }),
      descriptor('b=1', 'x=y', { limit: { requestsPerUnit: 3, unit: 2 } }),
      descriptor('b=1'),
      descriptor('u=1'),
    ),
    hitsAddend: 2,
  }
  const { dynamicMetadata } = await decider.decide(request)
  assert.deepEqual(dynamicMetadata, {
    domain: 'd',
    descriptors: [
      { entries: ['a=1'], hitsAddend: 1 },
      { entries: ['b=1', 'x=y'], limit: 'requests_per_unit:3 unit:MINUTE' },
      { entries: ['b=1'] },
      { entries: ['u=1'] },
    ],
    hitsAddend: 2,
    metadata: { team: 'one', tags: ['x'], nested: { a: 1, both: 1, b: 2 } },
  })

  const refused = await decider.decide(requestFor('d', descriptor('a=1')))
  assert.deepEqual(refused.dynamicMetadata, { domain: 'd', descriptors: [{ entries: ['a=1'] }] })
})

test('metadata cannot reach the prototype of an object', () => {
  const merged = mergeMetadata(
    JSON.parse('{"a": {"__proto__": {"x": 1}}}'),
    JSON.parse('{"a": {"__proto__": {"y": 2}}, "__proto__": {"polluted": true}}'),
  )
  assert.equal('polluted' in {}, false)
  assert.equal(
    JSON.stringify(merged),
    '{"a":{"__proto__":{"x":1,"y":2}},"__proto__":{"polluted":true}}',
  )
})

test('empty metadata is omitted', () => {
  const request = requestFor('d', descriptor('k=v'))
  const expected = { domain: 'd', descriptors: [{ entries: ['k=v'] }] }
  assert.deepEqual(toDynamicMetadata(request, [{}]), expected)
  assert.deepEqual(toDynamicMetadata(request, [undefined]), expected)
  assert.deepEqual(toDynamicMetadata(request, [{ a: 1 }]), { ...expected, metadata: { a: 1 } })
})
