import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, toBinary } from '@bufbuild/protobuf'
import { fromText } from '@bufbuild/protobuf/txtpb'
import fc from 'fast-check'
import { decodeRequest } from '../../src/protocol/decode.ts'
import { RateLimitRequestSchema } from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { RateLimitUnit } from '../../src/protocol/generated/envoy/type/v3/ratelimit_unit_pb.ts'
import { toRequestText } from '../../src/tracing/request-text.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 8 })
const limits = fc.record({
  requestsPerUnit: fc.nat(),
  unit: fc.constantFrom(RateLimitUnit.UNKNOWN, RateLimitUnit.HOUR, RateLimitUnit.YEAR),
})
const descriptors = fc.record(
  {
    entries: fc.array(fc.record({ key: text, value: text }), { maxLength: 3 }),
    limit: limits,
    hitsAddend: fc.nat().map(BigInt),
    isNegativeHits: fc.boolean(),
  },
  { requiredKeys: ['entries'] },
)
const requests = fc.record({
  domain: text,
  descriptors: fc.array(descriptors, { maxLength: 3 }),
  hitsAddend: fc.nat(),
})

test('the text of a request can be parsed to the same request', () => {
  fc.assert(
    fc.property(requests, (fields) => {
      const message = create(RateLimitRequestSchema, fields)
      const bytes = Buffer.from(toBinary(RateLimitRequestSchema, message))
      const written = toRequestText(decodeRequest(bytes, 0, bytes.length), Number.POSITIVE_INFINITY)
      assert.deepEqual(fromText(RateLimitRequestSchema, written), message)
      assert.ok(!written.includes('\n'))
    }),
  )
})

test('the text of a huge request is truncated', () => {
  const entries = [{ key: 'key', value: 'v'.repeat(1_000) }]
  const descriptor = { entries, limit: undefined, hitsAddend: undefined, isNegativeHits: false }
  const descriptors = Array.from({ length: 1_000 }, () => descriptor)
  const request = { domain: 'd', descriptors, hitsAddend: 0 }
  assert.equal(toRequestText(request, 2_500).length, 2_500)
  const whole = toRequestText(request, Number.POSITIVE_INFINITY)
  assert.equal(toRequestText(request, 2_500), whole.slice(0, 2_500))
})
