import assert from 'node:assert/strict'
import { test } from 'node:test'
import { logDecider } from '../../src/app/logged-decider.ts'
import type { Decide } from '../../src/decide/decide.ts'
import { ServiceError } from '../../src/decide/decision.ts'
import { encodeRequest } from '../../src/protocol/encode.ts'
import { OK, type RateLimitRequest, type RateLimitResponse } from '../../src/protocol/message.ts'
import { compileRules } from '../../src/rules/match/snapshot.ts'
import { Statistics } from '../../src/stats/registry.ts'
import { collectLog } from '../support/collected-log.ts'
import { descriptor, requestFor } from '../support/decider.ts'
import { parseText } from '../support/parse-text.ts'

const rules = `
domain: d
descriptors:
  - { key: k, shadow_mode: true, rate_limit: { unit: minute, requests_per_unit: 3 } }
  - { key: free, rate_limit: { unlimited: true } }
`

const response: RateLimitResponse = {
  overallCode: OK,
  statuses: [],
  responseHeadersToAdd: [],
  dynamicMetadata: undefined,
}

/** Decides with a decider that always returns the same response, and returns the log lines. */
function logOf(
  request: RateLimitRequest,
  { error, hasRules = true }: { error?: ServiceError; hasRules?: boolean } = {},
) {
  const { log, lines } = collectLog()
  const compiled = compileRules(parseText(rules).rules, new Statistics({ maxRequestKeys: 9 }).rules)
  const decide: Decide = (_request, _deadlineMs, decided) =>
    error ? decided(error, undefined) : decided(undefined, response)
  const logged = logDecider(
    { decide, decideEncoded: () => assert.fail('the request is already decoded') },
    { rules: () => (hasRules ? compiled : undefined), log },
  )
  const { buffer, length } = encodeRequest(request)
  const answers: unknown[] = []
  logged.decideEncoded(Buffer.from(buffer.subarray(0, length)), 0, length, 5, (...answer) => {
    answers.push(answer)
  })
  assert.deepEqual(answers, [error ? [error, undefined] : [undefined, response]])
  return lines
}

test('each descriptor is logged with its limit, followed by the response', () => {
  const request = requestFor('d', descriptor('k=v', 'l=w'), descriptor('k=v'), descriptor('free=1'))
  const lines = logOf(request)
  assert.deepEqual(lines.slice(0, -1), [
    'debug got descriptor: (k=v),(l=w)',
    'debug descriptor does not match any limit, no limits applied',
    'debug got descriptor: (k=v)',
    'debug applying limit: 3 requests per MINUTE, shadow_mode: true',
    'debug got descriptor: (free=1)',
    'debug descriptor is unlimited, not passing to the cache',
  ])
  assert.match(lines.at(-1) ?? '', /^debug returning normal response: overall_code:\s?OK/)
})

test('a domain without rules is logged as unknown', () => {
  assert.deepEqual(logOf(requestFor('other', descriptor('k=v'))).slice(0, -1), [
    "debug unknown domain 'other'",
    'debug got descriptor: (k=v)',
    'debug descriptor does not match any limit, no limits applied',
  ])
})

test('for a refused request only the error is logged', () => {
  const error = new ServiceError('no rate limit configuration loaded')
  const expected = ['debug caught error during call: no rate limit configuration loaded']
  assert.deepEqual(logOf(requestFor('d', descriptor('k=v')), { error, hasRules: false }), expected)
  assert.deepEqual(logOf(requestFor('', descriptor('k=v')), { error }), expected)
})
