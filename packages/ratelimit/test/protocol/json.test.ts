import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromJson, fromJsonString, type JsonValue, toJson, toJsonString } from '@bufbuild/protobuf'
import fc from 'fast-check'
import {
  RateLimitRequestSchema,
  RateLimitResponseSchema,
} from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { parseRequestJson, RequestSyntaxError, toResponseJson } from '../../src/protocol/json.ts'
import { OK, OVER_LIMIT, type RateLimitRequest } from '../../src/protocol/message.ts'
import {
  fromOracleRequest,
  requests,
  responses,
  toOracleRequest,
  toOracleResponse,
} from './messages.ts'

function assertRefused(text: string, reason: RegExp): void {
  assert.throws(
    () => parseRequestJson(text),
    (error) => {
      assert.ok(error instanceof RequestSyntaxError)
      assert.match(error.message, reason)
      assert.doesNotMatch(error.message, /\n/)
      return true
    },
  )
}

test('the documented examples are written exactly', () => {
  const common = { responseHeadersToAdd: [], dynamicMetadata: undefined }
  const minute = { unit: 2, name: '' }
  assert.equal(
    toResponseJson({
      ...common,
      overallCode: OK,
      statuses: [
        {
          code: OK,
          currentLimit: { ...minute, requestsPerUnit: 20 },
          limitRemaining: 19,
          resetSeconds: 33,
        },
      ],
    }),
    '{"overallCode":"OK","statuses":[{"code":"OK","currentLimit":{"requestsPerUnit":20,' +
      '"unit":"MINUTE"},"limitRemaining":19,"durationUntilReset":"33s"}]}',
  )
  assert.equal(
    toResponseJson({
      ...common,
      overallCode: OVER_LIMIT,
      statuses: [
        {
          code: OVER_LIMIT,
          currentLimit: { ...minute, requestsPerUnit: 1 },
          limitRemaining: 0,
          resetSeconds: 12,
        },
        { code: OK, currentLimit: undefined, limitRemaining: 0, resetSeconds: undefined },
      ],
    }),
    '{"overallCode":"OVER_LIMIT","statuses":[{"code":"OVER_LIMIT","currentLimit":' +
      '{"requestsPerUnit":1,"unit":"MINUTE"},"durationUntilReset":"12s"},{"code":"OK"}]}',
  )
  assert.equal(
    toResponseJson({
      ...common,
      overallCode: OK,
      statuses: [
        {
          code: OK,
          currentLimit: undefined,
          limitRemaining: 4_294_967_295,
          resetSeconds: undefined,
        },
      ],
    }),
    '{"overallCode":"OK","statuses":[{"code":"OK","limitRemaining":4294967295}]}',
  )
})

test('any response is written as the library does it', () => {
  fc.assert(
    fc.property(responses, (response) => {
      const expected = toJson(RateLimitResponseSchema, toOracleResponse(response))
      assert.deepEqual(JSON.parse(toResponseJson(response)), expected)
    }),
    { numRuns: 500 },
  )
})

test('any request that the library writes is read correctly, with both kinds of names', () => {
  fc.assert(
    fc.property(requests, fc.boolean(), (request, useProtoFieldName) => {
      const oracle = toOracleRequest(request)
      const text = toJsonString(RateLimitRequestSchema, oracle, { useProtoFieldName })
      assert.deepEqual(parseRequestJson(text), request)
    }),
    { numRuns: 500 },
  )
})

/** Valid and invalid values for any place in a request. */
const fields = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, '', 'a', 'MINUTE', 'WEEK', '2', 0, -1, 1.5, 7, 2 ** 32),
  fc.constantFrom<JsonValue>('4294967295', '4294967296', '-1', '18446744073709551615', 'x1', '1x'),
  fc.constantFrom<JsonValue>(
    '18446744073709551616',
    2 ** 31,
    -(2 ** 31),
    2 ** 60,
    2 ** 64,
    '\ud800',
  ),
  fc.constantFrom<JsonValue>([], {}, [null], [{}], [[]]),
)
function objects(...names: string[]): fc.Arbitrary<JsonValue> {
  const members = fc.tuple(fc.constantFrom(...names), fields)
  return fc.array(members, { maxLength: 2 }).map(Object.fromEntries)
}
const wildRequests = fc
  .record({
    top: objects('domain', 'hitsAddend', 'hits_addend', 'unknown', 'descriptors', '__proto__'),
    descriptor: objects('entries', 'limit', 'hitsAddend', 'hits_addend', 'isNegativeHits'),
    entry: objects('key', 'value', 'Key'),
    override: objects('requestsPerUnit', 'requests_per_unit', 'unit'),
  })
  .map(({ top, descriptor, entry, override }) => ({
    descriptors: [{ entries: [entry], limit: override }, descriptor],
    ...(typeof top === 'object' ? top : {}),
  }))

test('any JSON is read or refused as the library does it', () => {
  let acceptedCount = 0
  fc.assert(
    fc.property(wildRequests, (json) => {
      const text = JSON.stringify(json)
      let expected: RateLimitRequest
      try {
        expected = fromOracleRequest(fromJson(RateLimitRequestSchema, JSON.parse(text)))
      } catch {
        assertRefused(text, /./)
        return
      }
      acceptedCount++
      assert.deepEqual(parseRequestJson(text), expected)
    }),
    { numRuns: 3_000 },
  )
  assert.ok(acceptedCount > 50, `only ${acceptedCount} were accepted`)
})

test('a null member counts as absent', () => {
  const text =
    '{"domain":null,"hitsAddend":null,' +
    '"descriptors":[{"entries":null,"limit":null,"hitsAddend":null,"isNegativeHits":null}]}'
  assert.deepEqual(parseRequestJson(text), {
    domain: '',
    descriptors: [{ entries: [], limit: undefined, hitsAddend: undefined, isNegativeHits: false }],
    hitsAddend: 0,
  })
})

test('numbers may be written as JSON numbers in strings', () => {
  const hitsAddend = (text: string) => parseRequestJson(`{"hitsAddend":${text}}`).hitsAddend
  assert.equal(hitsAddend('7'), 7)
  assert.equal(hitsAddend('"7"'), 7)
  assert.equal(hitsAddend('1e2'), 100)
  assert.equal(hitsAddend('"1.0"'), 1)
  const [descriptor] = parseRequestJson(
    '{"descriptors":[{"hitsAddend":"18446744073709551615"}]}',
  ).descriptors
  assert.equal(descriptor?.hitsAddend, 2 ** 64)
})

test('errors are reported with their places', () => {
  assertRefused('', /end of JSON/)
  assertRefused('[]', /^expected an object, got a list$/)
  assertRefused('null', /^expected an object, got null$/)
  assertRefused('{"domain":"d"}\n{"x":\n1}', /after JSON/)
  assertRefused('{"domain":\n"a\nb"}', /control character/)
  assertRefused('{"dommain":"d"}', /^unknown member "dommain"$/)
  assertRefused('{"__proto__":{}}', /^unknown member "__proto__"$/)
  assertRefused('{"hits_addend":1,"hitsAddend":2}', /^hitsAddend is present in both spellings$/)
  assertRefused('{"descriptors":{}}', /^descriptors: expected a list, got an object$/)
  assertRefused('{"descriptors":[null]}', /^descriptors\[0\]: expected an object, got null$/)
  assertRefused(
    '{"descriptors":[{},{"entries":[{"key":1}]}]}',
    /^descriptors\[1\]\.entries\[0\]\.key: expected a string, got 1$/,
  )
  assertRefused(
    '{"descriptors":[{"limit":{"unit":"DECADE"}}]}',
    /^descriptors\[0\]\.limit\.unit: expected one of UNKNOWN, SECOND, .*YEAR, got "DECADE"$/,
  )
  for (const bad of ['-1', '4294967296', '1.5', '"0x10"', '"+1"', '"01"', '" 1"', '""', 'true']) {
    assertRefused(`{"hitsAddend":${bad}}`, /^hitsAddend: expected an integer/)
  }
})

test('JSON nested 200,000 deep is refused, not fatal', () => {
  const deep = 200_000
  assertRefused('['.repeat(deep) + ']'.repeat(deep), /expected an object/)
  assertRefused(`{"descriptors":${'['.repeat(deep)}${']'.repeat(deep)}}`, /expected an object/)
  assertRefused(`${'{"domain":'.repeat(deep)}1${'}'.repeat(deep)}`, /expected a string/)
  assertRefused('['.repeat(deep), /./)
})

test('any text is read or refused', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string({ unit: 'binary' })), (text) => {
      try {
        fromJsonString(RateLimitRequestSchema, text)
      } catch {
        assertRefused(text, /./)
      }
    }),
    { numRuns: 1_000 },
  )
})
