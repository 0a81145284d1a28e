import assert from 'node:assert/strict'
import test from 'node:test'
import { fromBinary } from '@bufbuild/protobuf'
import { parse } from 'yaml'
import { RateLimitRequestSchema } from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { createRequests, valuesKinds } from '../requests.ts'
import { toRuleFile } from '../rule-files.ts'

interface Rule {
  readonly key: string
  readonly value?: string
  readonly descriptors?: readonly Rule[]
  readonly rate_limit?: { readonly unit: string; readonly requests_per_unit: number }
}

test('every request of every kind matches a limit of the rule file', () => {
  const rules = 25
  const { domain, descriptors }: { domain: string; descriptors: Rule[] } = parse(toRuleFile(rules))
  for (const values of Object.keys(valuesKinds) as (keyof typeof valuesKinds)[]) {
    for (const { bytes } of createRequests({ values, descriptors: 3, rules })) {
      const request = fromBinary(RateLimitRequestSchema, bytes)
      assert.equal(request.domain, domain)
      for (const { entries } of request.descriptors) {
        const [first, second] = entries
        const parent = descriptors.find(
          ({ key, value }) => key === first?.key && (value === undefined || value === first.value),
        )
        const rule = parent?.descriptors?.find(({ key }) => key === second?.key)
        assert.ok(rule?.rate_limit, `${values}: ${first?.value} ${second?.value}`)
      }
    }
  }
})

test('requests are distributed over all rules', () => {
  const requests = createRequests({ values: 'many', descriptors: 1, rules: 25 })
  const tenants = new Set(
    requests.map(
      ({ bytes }) => fromBinary(RateLimitRequestSchema, bytes).descriptors[0]?.entries[0]?.value,
    ),
  )
  assert.equal(tenants.size, 25)
})
