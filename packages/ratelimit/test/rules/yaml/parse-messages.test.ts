import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultsOf } from '../../support/parse-text.ts'

/** The error, a file with it, and the line in the log, as in envoyproxy/ratelimit. */
const cases: readonly (readonly [what: string, text: string, logged: string])[] = [
  [
    'text that is not YAML',
    'domain: [d\n',
    'error loading config file: yaml: Flow sequence in block collection must be sufficiently indented and end with a ] (line 2, column 1)',
  ],
  [
    'a control character',
    'domain: a\u0007b\n',
    'error loading config file: yaml: control characters are not allowed (line 1, column 10)',
  ],
  [
    'a file that is a list',
    '\n- key: k\n',
    'error loading config file: a rule file must be a map with a domain and descriptors, not a list (line 2, column 1)',
  ],
  [
    'a file that is text',
    'domain d',
    "error loading config file: a rule file must be a map with a domain and descriptors, not the text 'domain d' (line 1, column 1)",
  ],
  [
    'a map instead of text',
    'domain: {name: d}\ndescriptors: []',
    'error loading config file: domain must be text, not a map (line 1, column 9)',
  ],
  [
    'text instead of an integer',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unit: day\n      requests_per_unit: many',
    "error loading config file: requests_per_unit must be an integer from 0 to 4294967295, not the text 'many' (line 6, column 26)",
  ],
  [
    'text instead of a boolean',
    'domain: d\ndescriptors:\n  - key: k\n    shadow_mode: "yes"',
    "error loading config file: shadow_mode must be true or false, not the text 'yes' (line 4, column 18)",
  ],
  [
    'text instead of a map',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit: 5 per second',
    "error loading config file: rate_limit must be a map, not the text '5 per second' (line 4, column 17)",
  ],
  [
    'a map instead of a list',
    'domain: d\ndescriptors:\n  key: k',
    'error loading config file: descriptors must be a list, not a map (line 3, column 3)',
  ],
  [
    'a key that is not text',
    'domain: d\ndescriptors:\n  - key: k\n    0x1f: v',
    'config error, key is not of type string: 31 (line 4, column 5)',
  ],
  [
    'a key that is null',
    'domain: d\ndescriptors:\n  - key: k\n    ~: v',
    'config error, key is not of type string: <nil> (line 4, column 5)',
  ],
  [
    'a key that is a boolean',
    'domain: d\nyes: v\ndescriptors: []',
    'config error, key is not of type string: true (line 2, column 1)',
  ],
  [
    'an unknown key',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unit: day\n      requests_per_unit: 1\n      burst: 4',
    "config error, unknown key 'burst' (line 7, column 7)",
  ],
  [
    'a list of text',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: day, requests_per_unit: 1, replaces: [other]}',
    'config error, yaml file contains list of type other than map: other (line 4, column 62)',
  ],
  [
    'a list of null',
    'domain: d\ndescriptors:\n  -\n  - key: k',
    'config error, yaml file contains list of type other than map: <nil> (line 3, column 3)',
  ],
  [
    'a list inside a list',
    'domain: d\ndescriptors:\n  - [a, {b: 1}]',
    'config error, yaml file contains list of type other than map: [a map[b:1]] (line 3, column 5)',
  ],
  [
    'a number with a fraction',
    'domain: d\ndescriptors:\n  - key: k\n    value: 1.5',
    'error checking config (line 4, column 12)',
  ],
  ['no domain', 'descriptors: []\n', 'config file cannot have empty domain (line 1, column 1)'],
  ['an empty domain', 'domain: ""\n', 'config file cannot have empty domain (line 1, column 9)'],
  ['an empty file', '# nothing\n', 'config file cannot have empty domain (line 1, column 1)'],
  [
    'no key',
    'domain: d\ndescriptors:\n  - value: v',
    'descriptor has empty key (line 3, column 5)',
  ],
  [
    'a key of null',
    'domain: d\ndescriptors:\n  - key:\n',
    'descriptor has empty key (line 3, column 5)',
  ],
  [
    'two equal siblings',
    'domain: d\ndescriptors:\n  - key: a\n    descriptors:\n      - {key: k, value: v}\n      - {key: k}\n      - {key: k_v}',
    "duplicate descriptor composite key 'd.a.k_v' (line 7, column 9)",
  ],
  [
    'an unknown unit',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: fortnight, requests_per_unit: 1}',
    "invalid rate limit unit 'fortnight' (line 4, column 24)",
  ],
  [
    'the unit named unknown',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: unknown, requests_per_unit: 1}',
    "invalid rate limit unit 'unknown' (line 4, column 24)",
  ],
  [
    'no unit',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      requests_per_unit: 1',
    "invalid rate limit unit '' (line 5, column 7)",
  ],
  [
    'a unit of an unlimited rule',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unlimited: true\n      unit: day',
    'should not specify rate limit unit when unlimited (line 6, column 13)',
  ],
  [
    'a multiplier of 0',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unit: day\n      requests_per_unit: 1\n      unit_multiplier: 0',
    'error loading config file: unit_multiplier must be an integer from 1 to 4294967295, not 0 (line 7, column 24)',
  ],
  [
    'a multiplier that is text',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: day, requests_per_unit: 1, unit_multiplier: "5"}',
    "error loading config file: unit_multiplier must be an integer from 1 to 4294967295, not the text '5' (line 4, column 68)",
  ],
  [
    'a window of more than ten years',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: year, requests_per_unit: 1, unit_multiplier: 11}',
    'rate limit window of 11 years is longer than 10 years (line 4, column 69)',
  ],
  [
    'a multiplier of an unlimited rule',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unlimited: true\n      unit_multiplier: 1',
    'should not specify rate limit unit_multiplier when unlimited (line 6, column 24)',
  ],
  [
    'an unknown algorithm',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: day, requests_per_unit: 1, algorithm: token_bucket}',
    "invalid rate limit algorithm 'token_bucket' (line 4, column 62)",
  ],
  [
    'an algorithm that is empty text',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: day, requests_per_unit: 1, algorithm: ""}',
    "invalid rate limit algorithm '' (line 4, column 62)",
  ],
  [
    'an algorithm that is not text',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: day, requests_per_unit: 1, algorithm: {name: x}}',
    'error loading config file: algorithm must be text, not a map (line 4, column 62)',
  ],
  [
    'an algorithm of an unlimited rule',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unlimited: true\n      algorithm: sliding_window',
    'should not specify rate limit algorithm when unlimited (line 6, column 18)',
  ],
  [
    'an empty name in replaces',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unlimited: true\n      replaces:\n        - name:',
    'should not have an empty replaces entry (line 7, column 11)',
  ],
  [
    'a rule that replaces itself',
    'domain: d\ndescriptors:\n  - key: k\n    rate_limit:\n      unlimited: true\n      name: n\n      replaces:\n        - name: n',
    'replaces should not contain name of same descriptor (line 8, column 11)',
  ],
  [
    'a shared threshold without a wildcard',
    'domain: d\ndescriptors:\n  - key: k\n    value: v\n    share_threshold: true',
    "share_threshold can only be used with wildcard values (containing '*'), but found key 'k_v' (line 3, column 5)",
  ],
  [
    'metadata that JSON cannot represent',
    'domain: d\ndescriptors:\n  - key: k\n    metadata: {a: [.nan]}',
    'error parsing metadata: .nan cannot be represented in JSON (line 4, column 20)',
  ],
  [
    'metadata that is not a map',
    'domain: d\ndescriptors:\n  - key: k\n    metadata: [a]',
    'error loading config file: metadata must be a map, not a list (line 4, column 15)',
  ],
]

for (const [what, text, logged] of cases) {
  test(`${what} is refused with its position`, () => {
    assert.deepEqual(faultsOf(text), [`a.yaml: ${logged}`])
  })
}

test('metadata may contain any key and any number', () => {
  const metadata = '{burst: 1.5, 7: {unknown: [a, [b]]}, yes: 1_000}'
  assert.deepEqual(faultsOf(`domain: d\ndescriptors: [{key: k, metadata: ${metadata}}]`), [])
})

test('a fault quotes only a short part of a text, however long the text is', () => {
  const long = 'x'.repeat(100_000)
  const texts = [
    `domain: d\n${long}: 1`,
    `domain: d\ndescriptors: [{key: ${long}}, {key: ${long}}]`,
    `domain: d\ndescriptors: [{key: k, rate_limit: {unit: ${long}}}]`,
    `domain: d\ndescriptors: [{value: ${long}}]`,
    `domain: *${long}`,
    `domain: ${long}\n${long}\n: [`,
    `domain: d\ndescriptors: [{key: k, shadow_mode: ${long}}]`,
    `domain: d\ndescriptors: [{key: 1.${'5'.repeat(100_000)}}]`,
  ]
  for (const [i, text] of texts.entries()) {
    const faults = faultsOf(text)
    assert.ok(faults.length > 0, `text ${i} has a fault`)
    for (const fault of faults) assert.ok(JSON.stringify(fault).length < 1_000, `text ${i}`)
  }
})
