import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DescEnum, equals } from '@bufbuild/protobuf'
import { fromText } from '@bufbuild/protobuf/txtpb'
import fc from 'fast-check'
import { encodeResponse } from '../../src/protocol/encode.ts'
import {
  RateLimitResponse_CodeSchema,
  RateLimitResponse_RateLimit_UnitSchema,
  RateLimitResponseSchema,
} from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { RateLimitUnitSchema } from '../../src/protocol/generated/envoy/type/v3/ratelimit_unit_pb.ts'
import {
  codeNames,
  limitUnitNames,
  OK,
  OVER_LIMIT,
  overrideUnitNames,
  type RateLimitResponse,
  toOverrideText,
} from '../../src/protocol/message.ts'
import { toResponseText } from '../../src/protocol/response-text.ts'
import { responses, toOracleResponse } from './messages.ts'

function toText(response: RateLimitResponse): string {
  const { buffer, length } = encodeResponse(response)
  return toResponseText(buffer.subarray(0, length))
}

test('a response is one line of protobuf text', () => {
  const text = toText({
    overallCode: OVER_LIMIT,
    statuses: [
      {
        code: OVER_LIMIT,
        currentLimit: { requestsPerUnit: 5, unit: 2, name: 'say: "{"\n' },
        limitRemaining: 0,
        resetSeconds: 26,
      },
      { code: OK, currentLimit: undefined, limitRemaining: 0, resetSeconds: undefined },
    ],
    responseHeadersToAdd: [{ key: 'RateLimit-Limit', value: '5' }],
    dynamicMetadata: { empty: {}, list: [1, null] },
  })
  assert.equal(
    text,
    'overall_code:OVER_LIMIT ' +
      'statuses:{code:OVER_LIMIT ' +
      'current_limit:{name:"say: \\"{\\"\\n" requests_per_unit:5 unit:MINUTE} ' +
      'duration_until_reset:{seconds:26}} ' +
      'statuses:{code:OK} ' +
      'response_headers_to_add:{key:"RateLimit-Limit" value:"5"} ' +
      'dynamic_metadata:{fields:{key:"empty" value:{struct_value:{}}} ' +
      'fields:{key:"list" value:{list_value:{' +
      'values:{number_value:1} values:{null_value:NULL_VALUE}}}}}',
  )
})

test('the text of any response is complete and on one line', () => {
  fc.assert(
    fc.property(responses, (response) => {
      const text = toText(response)
      assert.doesNotMatch(text, /[\n\r]/)
      const parsed = fromText(RateLimitResponseSchema, text)
      assert.ok(equals(RateLimitResponseSchema, parsed, toOracleResponse(response)))
    }),
    { numRuns: 200 },
  )
})

test('the names of units and codes are those of the definitions', () => {
  const toNames = (desc: DescEnum) => desc.values.map(({ name }) => name)
  assert.deepEqual(codeNames, toNames(RateLimitResponse_CodeSchema))
  assert.deepEqual(overrideUnitNames, toNames(RateLimitUnitSchema))
  assert.deepEqual(limitUnitNames, toNames(RateLimitResponse_RateLimit_UnitSchema))
})

test('a limit in a request is written with the name of its unit, or its number', () => {
  assert.equal(toOverrideText({ requestsPerUnit: 42, unit: 3 }), 'requests_per_unit:42 unit:HOUR')
  assert.equal(toOverrideText({ requestsPerUnit: 0, unit: 7 }), 'unit:7')
  assert.equal(toOverrideText({ requestsPerUnit: 0, unit: 0 }), '')
})
