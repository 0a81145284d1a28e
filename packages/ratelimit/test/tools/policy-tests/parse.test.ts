import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { parsePolicyTests } from '../../../src/tools/policy-tests/parse.ts'
import { damagedYaml, garbage, shuffledYaml } from '../../support/yaml-samples.ts'

function parse(text: string) {
  return parsePolicyTests({ name: 'a.test.yaml', text })
}

/** The only test of a file that must be valid. */
function testOf(text: string) {
  const { tests, faults } = parse(text)
  assert.deepEqual(faults, [])
  assert.equal(tests.length, 1)
  const [test] = tests
  assert.ok(test)
  return test
}

/** The steps of a test, from a YAML list. */
function stepsOf(steps: string) {
  return testOf(`domain: d\ntests: [{name: n, steps: [${steps}]}]`).steps
}

/** `line:column: message` of every fault. */
function faultsOf(text: string): string[] {
  return parse(text).faults.map(({ message, place }) => `${place.line}:${place.column}: ${message}`)
}

const call = 'request: {descriptors: [{k: v}]}'

suite('a file of policy tests', () => {
  test('contains tests with requests, expectations and changes of the time', () => {
    const { name, place, startMs, steps } = testOf(`
tests:
  - name: a user gets 5 calls a minute
    at: 2026-02-03T04:05:06Z
    steps:
      - request: { domain: api, descriptors: [{ user: alice, path: 007 }], hits: 2 }
        times: 5
        expect: OK
      - advance: 60s
      - at: 2026-02-03T05:00:00Z
`)
    assert.equal(name, 'a user gets 5 calls a minute')
    assert.deepEqual(place, { file: 'a.test.yaml', line: 3, column: 5 })
    assert.equal(startMs, Date.UTC(2026, 1, 3, 4, 5, 6))
    const entries = [
      { key: 'user', value: 'alice' },
      { key: 'path', value: '007' },
    ]
    assert.deepEqual(steps, [
      {
        kind: 'request',
        request: {
          domain: 'api',
          descriptors: [
            { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false },
          ],
          hitsAddend: 2,
        },
        times: 5,
        wanted: [
          {
            field: 'code',
            descriptor: undefined,
            text: 'ok',
            place: { file: 'a.test.yaml', line: 8, column: 17 },
          },
        ],
      },
      { kind: 'clock', nowMs: startMs + 60_000 },
      { kind: 'clock', nowMs: Date.UTC(2026, 1, 3, 5) },
    ])
  })

  test('uses the domain of the request, or else of the test, or else of the file', () => {
    const { tests } = parse(`
domain: file
tests:
  - name: a
    domain: test
    steps:
      - { request: { domain: request, descriptors: [{ k: v }] }, expect: ok }
      - { request: { descriptors: [{ k: v }] }, expect: ok }
  - name: b
    steps: [{ request: { descriptors: [{ k: v }] }, expect: ok }]
`)
    const domains = tests.flatMap(({ steps }) =>
      steps.map((step) => (step.kind === 'request' ? step.request.domain : '')),
    )
    assert.deepEqual(domains, ['request', 'test', 'file'])
  })

  test('starts at the start of a day and a week by default', () => {
    const { startMs } = testOf(`tests: [{name: n, domain: d, steps: [{${call}, expect: ok}]}]`)
    assert.equal(startMs, Date.UTC(2026, 0, 1))
    assert.equal(startMs % (7 * 24 * 3600 * 1000), 0)
  })

  test('can contain descriptors as a map, as a list, or with hits and a limit', () => {
    const descriptors = [
      '{a: 1, b: }',
      '[{a: 1}, {a: 2}]',
      '{entries: {a: 1}, hits: 0, limit: 5/minute}',
      '{entries: [{a: 1}, {a: 2}], hits: -3}',
      '{entries: text}',
    ]
    const [step] = stepsOf(`{request: {descriptors: [${descriptors.join(', ')}]}, expect: ok}`)
    assert.equal(step?.kind, 'request')
    const plain = { limit: undefined, hitsAddend: undefined, isNegativeHits: false }
    const one = { key: 'a', value: '1' }
    const two = { key: 'a', value: '2' }
    assert.deepEqual(step.request.descriptors, [
      { ...plain, entries: [one, { key: 'b', value: '' }] },
      { ...plain, entries: [one, two] },
      { ...plain, entries: [one], hitsAddend: 0, limit: { requestsPerUnit: 5, unit: 2 } },
      { ...plain, entries: [one, two], hitsAddend: 3, isNegativeHits: true },
      { ...plain, entries: [{ key: 'entries', value: 'text' }] },
    ])
  })

  test('can contain expectations about the response and each descriptor', () => {
    const [step] = stepsOf(
      '{request: {descriptors: [{k: v}, {k: w}]}, expect: {code: over_limit, descriptors: ' +
        '[ok, {code: Over_Limit, remaining: 05, reset: 1 minute, rule: d.k, limit: 5/10 Minutes}]}}',
    )
    assert.equal(step?.kind, 'request')
    assert.deepEqual(
      step.wanted.map(({ field, descriptor, text }) => [field, descriptor, text]),
      [
        ['code', undefined, 'over_limit'],
        ['code', 0, 'ok'],
        ['code', 1, 'over_limit'],
        ['remaining', 1, '5'],
        ['reset', 1, '60s'],
        ['rule', 1, 'd.k'],
        ['limit', 1, '5 every 10 minutes'],
      ],
    )
  })

  test('can contain expectations about a single descriptor directly', () => {
    const [step] = stepsOf(`{${call}, expect: {remaining: 4, limit: unlimited, rule: none}}`)
    assert.equal(step?.kind, 'request')
    assert.deepEqual(
      step.wanted.map(({ field, descriptor, text }) => [field, descriptor, text]),
      [
        ['remaining', 0, '4'],
        ['limit', 0, 'unlimited'],
        ['rule', 0, 'none'],
      ],
    )
  })

  test('can repeat a request with an anchor', () => {
    const steps = stepsOf(
      '{request: &r {descriptors: [{k: v}]}, expect: ok}, {request: *r, expect: over_limit}',
    )
    const [first, second] = steps.map((step) =>
      step.kind === 'request' ? step.request : undefined,
    )
    assert.ok(first)
    assert.deepEqual(second, first)
  })
})

/** The error, the steps with it, and the message; the position is that of the value. */
const wrongSteps: readonly (readonly [what: string, step: string, fault: RegExp])[] = [
  ['an empty step', '{}', /^3:\d+: a step is one of request, advance and at$/],
  ['a step of two kinds', '{advance: 1s, at: 2027-01-01}', /a step is one of request/],
  ['a step that is text', 'wait', /^3:\d+: a step must be a map, not the text 'wait'$/],
  ['an unknown field', '{requst: x}', /^3:\d+: a step has no field 'requst'$/],
  ['an empty field', `{${call}, expect: }`, /^3:\d+: 'expect' is empty$/],
  ['a request without descriptors', '{request: {domain: d}}', /the request has no descriptors$/],
  [
    'a request with an empty list of descriptors',
    '{request: {descriptors: []}}',
    /descriptors must have at least one item/,
  ],
  ['an empty descriptor', '{request: {descriptors: [{}]}}', /needs at least one entry$/],
  [
    'a descriptor that is text',
    '{request: {descriptors: [x]}}',
    /must be a map, not the text 'x'$/,
  ],
  ['a value that is a list', '{request: {descriptors: [{a: []}]}}', /value of 'a' must be text/],
  [
    'an unknown field next to entries',
    '{request: {descriptors: [{entries: {a: b}, hit: 1}]}}',
    /a descriptor with entries has no field 'hit'$/,
  ],
  [
    'a limit that the protocol does not support',
    '{request: {descriptors: [{entries: {a: b}, limit: 5/5 minutes}]}}',
    /must be hits per unit, such as 5\/minute, not the text '5\/5 minutes'$/,
  ],
  [
    'negative hits of a request',
    '{request: {descriptors: [{a: b}], hits: -1}}',
    /hits must be an integer from 0 to 4294967295, not -1$/,
  ],
  ['no calls', `{${call}, times: 0}`, /times must be an integer from 1 to 1000000, not 0$/],
  ['times without a request', '{advance: 1s, times: 3}', /times belongs to a request$/],
  [
    'an expectation in a step without a request',
    '{advance: 1s, expect: ok}',
    /expect belongs to a request$/,
  ],
  ['an invalid duration', '{advance: soon}', /advance must be a time such as 60s/],
  [
    'a duration that is too long',
    '{advance: 9999999 years}',
    /advance leads beyond the year 9999$/,
  ],
  ['an invalid time', '{at: noon}', /at must be a time such as 2026-01-01T12:00:00Z/],
  ['an earlier time', '{at: 2025-12-31}', /it is already 2026-01-01T00:00:00Z$/],
  ['an unknown code', `{${call}, expect: maybe}`, /code must be ok or over_limit, not .*'maybe'$/],
  ['an empty expectation', `{${call}, expect: {}}`, /expect is empty$/],
  ['a list of expectations', `{${call}, expect: [ok]}`, /expect must be a map, not a list$/],
  [
    'a negative number',
    `{${call}, expect: {remaining: -1}}`,
    /remaining must be an integer, not -1/,
  ],
  [
    'a fraction of a second',
    `{${call}, expect: {reset: 5ms}}`,
    /reset must be a time of whole seconds/,
  ],
  ['a rule that is a list', `{${call}, expect: {rule: []}}`, /rule must be the path of a rule/],
  ['an invalid limit', `{${call}, expect: {limit: five}}`, /limit must be a limit such as/],
  [
    'an ambiguous field',
    '{request: {descriptors: [{a: b}, {a: c}]}, expect: {remaining: 1}}',
    /the request has 2 descriptors, so remaining is ambiguous$/,
  ],
  [
    'expectations for another number of descriptors',
    `{${call}, expect: {descriptors: [ok, ok]}}`,
    /the numbers of descriptors differ: 2 expected, 1 sent$/,
  ],
]

suite('a fault in a file of policy tests', () => {
  for (const [what, step, fault] of wrongSteps) {
    test(`${what} is reported with its position`, () => {
      const head = 'domain: d\ntests: [{name: n, steps: [\n'
      const faults = faultsOf(`${head}  ${step}, {${call}, expect: ok}]}]`)
      assert.equal(faults.length, 1, faults.join('\n'))
      assert.match(faults[0] ?? '', fault)
    })
  }

  const wrongFiles: readonly (readonly [what: string, text: string, fault: string])[] = [
    ['no tests', 'domain: d', "1:1: 'tests' is missing: the list of tests"],
    ['an empty list', 'tests: []', '1:8: tests must have at least one item'],
    ['text', 'tests', "1:1: a file of policy tests must be a map, not the text 'tests'"],
    ['a test without steps', 'tests: [{name: n}]', '1:9: the test has no steps'],
    ['an unknown field', 'test: []', "1:1: a file of policy tests has no field 'test'"],
    [
      'a test without a name',
      `tests: [{domain: d, steps: [{${call}, expect: ok}]}]`,
      '1:9: the test has no name',
    ],
    [
      'a test without expectations',
      `tests: [{domain: d, name: n, steps: [{${call}}]}]`,
      '1:37: the test checks nothing: at least one request needs an expect',
    ],
    [
      'a request without a domain',
      `tests: [{name: n, steps: [{${call}, expect: ok}]}]`,
      '1:37: the request has no domain',
    ],
    [
      'a name that is used twice',
      `domain: d\ntests:\n  - &t {name: n, steps: [{${call}, expect: ok}]}\n  - {<<: *t}`,
      "4:5: there is another test with the name 'n'",
    ],
    [
      'a field that occurs twice',
      `domain: d\ndomain: e\ntests: [{name: n, steps: [{${call}, expect: ok}]}]`,
      "2:1: 'domain' occurs twice; the last one is used",
    ],
  ]
  for (const [what, text, fault] of wrongFiles) {
    test(`${what} is reported with its position`, () => assert.deepEqual(faultsOf(text), [fault]))
  }

  test('does not hide the others', () => {
    const faults = faultsOf(`tests:
  - nam: x
  - name: y
    steps: [{request: {descriptors: [{}]}, expect: never}, {advance: 1 fortnight}]`)
    assert.equal(faults.length, 5, faults.join('\n'))
  })

  test('in YAML is reported with its position', () => {
    assert.match(faultsOf('tests: [')[0] ?? '', /^1:9: yaml: /)
  })

  test('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(damagedYaml, shuffledYaml, garbage), (text) => {
        assert.ok(parse(text).faults.length > 0)
      }),
    )
  })
})
