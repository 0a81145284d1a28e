import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkRules, runPolicyTests } from '@portcullis/ratelimit/rules'

const { rules } = checkRules({
  files: [
    {
      name: 'api.yaml',
      text: `domain: api
descriptors:
  - key: user
    rate_limit: { unit: minute, requests_per_unit: 2 }
`,
    },
  ],
  skipped: [],
  unreadable: [],
})

const run = (text: string, options = {}) =>
  runPolicyTests(rules, { name: 'api.test.yaml', text }, options)

const text = `domain: api
tests:
  - name: two calls are allowed
    steps:
      - request: { descriptors: [{ user: ada }] }
        times: 2
        expect: ok
  - name: a third one is allowed as well
    steps:
      - request: { descriptors: [{ user: ada }] }
        times: 3
        expect: ok
`

test('each test is reported with its line, and a failure with its place and the reason', async () => {
  const { findings, results } = await run(text)
  assert.deepEqual(findings, [])
  assert.deepEqual(results[0], {
    name: 'two calls are allowed',
    line: 3,
    requests: 2,
    failure: undefined,
  })
  const failure = results[1]?.failure
  assert.deepEqual(failure?.mismatches, [
    { line: 12, column: 17, message: 'expected ok, got over_limit' },
  ])
  assert.match(failure?.details.join('\n') ?? '', /call 3 of 3.*rule api\.user at api\.yaml:3:/s)
})

test('no test runs if the file has an error, or more requests than allowed', async () => {
  const wrong = await run(text.replace('times: 2', 'times: two'))
  assert.deepEqual(wrong.results, [])
  assert.deepEqual([wrong.findings[0]?.line, wrong.findings[0]?.file], [6, 'api.test.yaml'])
  const { findings } = await run(text, { mostRequests: 4 })
  assert.match(findings[0]?.message ?? '', /5 requests, and at most 4 are allowed/)
})
