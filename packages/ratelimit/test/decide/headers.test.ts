import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toHeaders } from '../../src/decide/headers.ts'
import { type Code, type DescriptorStatus, OK, OVER_LIMIT } from '../../src/protocol/message.ts'
import { descriptor, openDecider, requestFor } from '../support/decider.ts'

const names = { limit: 'L', remaining: 'R', reset: 'T' }

function status(limit: number, limitRemaining: number, code: Code = OK): DescriptorStatus {
  const currentLimit = { requestsPerUnit: limit, unit: 2, name: '' }
  return { code, currentLimit, limitRemaining, resetSeconds: limit + 1 }
}

function describeHeaders(statuses: readonly DescriptorStatus[], quotas: readonly number[] = []) {
  return toHeaders(statuses, names, (index) => quotas.includes(index))
    .map(({ key, value }) => `${key}=${value}`)
    .join(' ')
}

test('the headers report the last of several exceeded limits', () => {
  const statuses = [status(5, 0, OVER_LIMIT), status(9, 4), status(7, 0, OVER_LIMIT), status(8, 3)]
  assert.equal(describeHeaders(statuses), 'L=7 R=0 T=8')
})

test('a limit with nothing remaining does not hide an exceeded one, before or after it', () => {
  assert.equal(describeHeaders([status(5, 0), status(7, 0, OVER_LIMIT)]), 'L=7 R=0 T=8')
  assert.equal(describeHeaders([status(7, 0, OVER_LIMIT), status(5, 0)]), 'L=7 R=0 T=8')
})

test('the headers report the first of the limits with the least remaining', () => {
  assert.equal(describeHeaders([status(5, 3), status(6, 2), status(7, 2)]), 'L=6 R=2 T=7')
})

test('an exceeded quota is compared by its remaining hits, like any other', () => {
  const statuses = [status(5, 0, OVER_LIMIT), status(9, 0)]
  assert.equal(describeHeaders(statuses, [0]), 'L=5 R=0 T=6')
  assert.equal(describeHeaders([status(9, 0), status(5, 0, OVER_LIMIT)], [1]), 'L=9 R=0 T=10')
})

test('a rule in quota mode does not replace an earlier limit with nothing remaining', async (t) => {
  const rules = `
domain: d
descriptors:
  - { key: a, rate_limit: { unit: minute, requests_per_unit: 2 } }
  - { key: q, quota_mode: true, rate_limit: { unit: minute, requests_per_unit: 1 } }
`
  const decider = openDecider(t, rules, { settings: { headerNames: names } })
  const request = requestFor('d', descriptor('a=1'), descriptor('q=1'))
  await decider.decide(request)
  const { statuses, responseHeadersToAdd } = await decider.decide(request)
  assert.deepEqual(
    statuses.map(({ code, limitRemaining }) => [code, limitRemaining]),
    [
      [OK, 0],
      [OVER_LIMIT, 0],
    ],
  )
  assert.deepEqual(responseHeadersToAdd[0], { key: 'L', value: '2' })
})
