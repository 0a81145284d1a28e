import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { parseRuleFiles } from '../../../src/rules/yaml/parse.ts'
import { parsePolicyTests } from '../../../src/tools/policy-tests/parse.ts'
import { PolicyTestRunner, type TestResult } from '../../../src/tools/policy-tests/run.ts'

const rules = `domain: d
descriptors:
  - key: user
    rate_limit: { unit: minute, requests_per_unit: 5 }
  - key: slow
    rate_limit: { unit: minute, unit_multiplier: 5, requests_per_unit: 2 }
  - key: smooth
    rate_limit: { unit: minute, requests_per_unit: 10, algorithm: sliding_window }
  - key: watched
    shadow_mode: true
    rate_limit: { unit: second, requests_per_unit: 1 }
  - key: free
    rate_limit: { unlimited: true }
  - key: listed
  - key: quota_a
    quota_mode: true
    rate_limit: { unit: day, requests_per_unit: 1 }
  - key: quota_b
    quota_mode: true
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: base
    rate_limit: { unit: day, requests_per_unit: 1, name: base }
  - key: better
    rate_limit: { unit: day, requests_per_unit: 9, replaces: [{ name: base }] }
`

async function run(t: TestContext, text: string) {
  const { rules: ruleSet } = parseRuleFiles([{ name: 'd.yaml', text: rules }], {
    mergeDomains: false,
  })
  const { tests, faults } = parsePolicyTests({ name: 'd.test.yaml', text })
  assert.deepEqual(faults, [])
  const runner = new PolicyTestRunner(ruleSet)
  t.after(() => runner[Symbol.asyncDispose]())
  const results: TestResult[] = []
  for (const policyTest of tests) results.push(await runner.run(policyTest))
  return results
}

/** Runs the steps of one test. */
async function runSteps(t: TestContext, steps: string) {
  const indented = steps.trim().replaceAll(/^/gm, '      ')
  const [result] = await run(t, `domain: d\ntests:\n  - name: n\n    steps:\n${indented}\n`)
  assert.ok(result)
  return result
}

/** `field expected actual` of every mismatch. */
function mismatchesOf({ failure }: TestResult) {
  return (failure?.mismatches ?? []).map(
    ({ field, descriptor, expected, actual }) => `${descriptor}: ${field} ${expected} ${actual}`,
  )
}

suite('a policy test', () => {
  const passing: readonly (readonly [what: string, steps: string])[] = [
    [
      'a window that ends',
      `- { request: { descriptors: [{ user: a }] }, times: 5, expect: { code: ok, remaining: 0, reset: 60s } }
- { request: { descriptors: [{ user: a }] }, times: 3, expect: over_limit }
- { advance: 59s }
- { request: { descriptors: [{ user: a }] }, expect: { code: over_limit, reset: 1s } }
- { advance: 1s }
- { request: { descriptors: [{ user: a }] }, expect: { code: ok, remaining: 4 } }`,
    ],
    [
      'windows of several units',
      `- { request: { descriptors: [{ slow: a }] }, times: 2, expect: { code: ok, reset: 5 minutes, limit: 2/5 minutes } }
- { advance: 4m59s }
- { request: { descriptors: [{ slow: a }] }, expect: over_limit }
- { advance: 1s }
- { request: { descriptors: [{ slow: a }] }, expect: ok }`,
    ],
    [
      'a window that slides',
      `- { request: { descriptors: [{ smooth: a }] }, times: 10, expect: ok }
- { advance: 90s }
- { request: { descriptors: [{ smooth: a }] }, times: 5, expect: ok }
- { request: { descriptors: [{ smooth: a }] }, expect: over_limit }`,
    ],
    [
      'a step with its own time',
      `- { at: 2026-05-05T05:05:30Z }
- { request: { descriptors: [{ user: a }] }, expect: { reset: 30s } }`,
    ],
    [
      'hits of the request and of a descriptor, and refunds',
      `- { request: { descriptors: [{ user: a }, { entries: { user: b }, hits: 1 }], hits: 5 }, expect: { descriptors: [{ remaining: 0 }, { remaining: 4 }] } }
- { request: { descriptors: [{ entries: { user: a }, hits: -2 }] }, expect: { remaining: 2 } }
- { request: { descriptors: [{ entries: { user: a }, hits: 0 }] }, expect: { remaining: 2 } }`,
    ],
    [
      'limits in shadow mode',
      `- { request: { descriptors: [{ watched: a }] }, times: 3, expect: { code: ok, remaining: 0, rule: d.watched } }`,
    ],
    [
      'rules without a limit, and none at all',
      `- { request: { descriptors: [{ free: a }] }, expect: { code: ok, limit: unlimited, remaining: 4294967295, reset: none } }
- { request: { descriptors: [{ listed: a }] }, expect: { code: ok, limit: none, rule: d.listed } }
- { request: { descriptors: [{ unknown: a }] }, expect: { code: ok, limit: none, rule: none, reset: none } }
- { request: { domain: nowhere, descriptors: [{ user: a }] }, expect: { code: ok, rule: none } }`,
    ],
    [
      'quotas that refuse only together',
      `- { request: &both { descriptors: [{ quota_a: a }, { quota_b: a }] }, expect: ok }
- { request: *both, expect: { code: ok, descriptors: [over_limit, ok] } }
- { request: *both, expect: over_limit }`,
    ],
    [
      'limits that replace others',
      `- { request: { descriptors: [{ base: a }, { better: a }] }, times: 5, expect: { code: ok, descriptors: [{ limit: none, rule: d.base }, { remaining: 4 }] } }
- { request: { descriptors: [{ base: a }] }, expect: { code: ok, remaining: 0 } }`,
    ],
    [
      'a limit of the request',
      `- { request: { descriptors: [{ entries: { any: thing }, limit: 1/hour }] }, expect: { code: ok, rule: request, limit: 1/hour } }
- { request: { descriptors: [{ entries: { any: thing }, limit: 1/hour }] }, expect: over_limit }`,
    ],
  ]
  for (const [what, steps] of passing) {
    test(`can be about ${what}`, async (t) => {
      assert.deepEqual(mismatchesOf(await runSteps(t, steps)), [])
    })
  }

  test('checks the code of every call and everything else only for the last one', async (t) => {
    const call = '- request: { descriptors: [{ user: a }] }\n  times: 6\n  expect: '
    const tooMany = await runSteps(t, `${call}ok`)
    assert.deepEqual(mismatchesOf(tooMany), ['undefined: code ok over_limit'])
    assert.equal(tooMany.failure?.call, 6)
    const tooEarly = await runSteps(t, `${call}over_limit`)
    assert.equal(tooEarly.failure?.call, 1)
    assert.equal(tooEarly.requestCount, 1)
    const last = await runSteps(t, `${call}{ remaining: 0 }`)
    assert.equal(last.failure, undefined)
    assert.equal(last.requestCount, 6)
  })

  test('fails with all mismatches of a step, and stops there', async (t) => {
    const result = await runSteps(
      t,
      `- { advance: 90s }
- request: { descriptors: [{ user: a }, { user: b }] }
  expect:
    code: over_limit
    descriptors:
      - { code: over_limit, remaining: 3, reset: 60s, rule: d.slow, limit: 5/hour }
      - { code: ok, remaining: 4 }
- { request: { descriptors: [{ user: a }] }, expect: over_limit }`,
    )
    assert.deepEqual(mismatchesOf(result), [
      'undefined: code over_limit ok',
      '0: code over_limit ok',
      '0: remaining 3 4',
      '0: reset 60s 30s',
      '0: rule d.slow d.user',
      '0: limit 5 per hour 5 per minute',
    ])
    const { failure } = result
    assert.ok(failure)
    assert.equal(failure.nowMs, Date.UTC(2026, 0, 1, 0, 1, 30))
    assert.deepEqual(failure.mismatches[2]?.place, { file: 'd.test.yaml', line: 10, column: 46 })
    assert.equal(failure.outcomes[1]?.explanation.match?.rule?.path, 'd.user')
  })

  test('has separate counters and its own clock', async (t) => {
    const step = '[{ request: { descriptors: [{ user: a }], hits: 5 }, expect: ok }]'
    const results = await run(
      t,
      `domain: d
tests:
  - { name: a, at: 2030-01-01, steps: ${step} }
  - { name: b, at: 2026-01-01, steps: ${step} }
  - { name: c, at: 2026-01-01, steps: ${step} }`,
    )
    assert.deepEqual(
      results.map(({ failure }) => failure),
      [undefined, undefined, undefined],
    )
  })
})
