import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromBinary, toBinary } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { decodeRequest } from '../../src/protocol/decode.ts'
import { type Encoded, encodeRequest, encodeResponse } from '../../src/protocol/encode.ts'
import {
  RateLimitRequestSchema,
  RateLimitResponseSchema,
} from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { OK, OVER_LIMIT, type RateLimitResponse } from '../../src/protocol/message.ts'
import { decodeResponse } from '../support/decode-response.ts'
import { requests, responses, toOracleRequest, toOracleResponse } from './messages.ts'

function toBytes({ buffer, length }: Encoded): Buffer {
  return Buffer.from(buffer.subarray(0, length))
}

const plain: RateLimitResponse = {
  overallCode: OK,
  statuses: [
    {
      code: OK,
      currentLimit: { requestsPerUnit: 20, unit: 2, name: '' },
      limitRemaining: 19,
      resetSeconds: 33,
    },
  ],
  responseHeadersToAdd: [],
  dynamicMetadata: undefined,
}

test('the usual response takes 18 bytes', () => {
  const encoded = toBytes(encodeResponse(plain))
  assert.equal(
    encoded.toString('hex'),
    '0801' + '120e' + '0801' + '120408141002' + '1813' + '22020821',
  )
})

test('any response is encoded byte for byte as the library does', () => {
  fc.assert(
    fc.property(responses, (response) => {
      const expected = toBinary(RateLimitResponseSchema, toOracleResponse(response))
      assert.deepEqual(toBytes(encodeResponse(response)), Buffer.from(expected))
    }),
    { numRuns: 500 },
  )
})

test('any request is encoded byte for byte as the library does', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const expected = toBinary(RateLimitRequestSchema, toOracleRequest(request))
      assert.deepEqual(toBytes(encodeRequest(request)), Buffer.from(expected))
    }),
    { numRuns: 500 },
  )
})

test('an encoded message is decoded to the same message', () => {
  fc.assert(
    fc.property(requests, responses, (request, response) => {
      const encoded = toBytes(encodeRequest(request))
      assert.deepEqual(decodeRequest(encoded, 0, encoded.length), request)
      const answered = toBytes(encodeResponse(response))
      assert.deepEqual(decodeResponse(answered), response)
    }),
    { numRuns: 300 },
  )
})

test('an addend that was rounded up to 2^64 is sent as the largest possible one', () => {
  const one = { entries: [], limit: undefined, hitsAddend: 2 ** 64, isNegativeHits: false }
  const encoded = encodeRequest({ domain: '', descriptors: [one], hitsAddend: 0 })
  const { descriptors } = fromBinary(RateLimitRequestSchema, toBytes(encoded))
  assert.equal(descriptors[0]?.hitsAddend, 2n ** 64n - 1n)
})

test('a small response after a huge one is correct, and the huge buffer is released', () => {
  const [status] = plain.statuses
  assert.ok(status)
  const huge = { ...plain, statuses: new Array<typeof status>(100_000).fill(status) }
  const expected = toBinary(RateLimitResponseSchema, toOracleResponse(huge))
  const encoded = encodeResponse(huge)
  assert.equal(Buffer.compare(toBytes(encoded), expected), 0)
  assert.equal(toBytes(encodeResponse(plain)).length, 18)
  assert.ok(encodeResponse(plain).buffer.length < 1_048_576)
})

test('a name whose last character is not ASCII is encoded completely', () => {
  const currentLimit = { requestsPerUnit: 1, unit: 1, name: 'per-caf\u00e9' }
  const status = { code: OVER_LIMIT, currentLimit, limitRemaining: 0, resetSeconds: 1 } as const
  const encoded = encodeResponse({ ...plain, statuses: [status] })
  const { statuses } = fromBinary(RateLimitResponseSchema, toBytes(encoded))
  assert.equal(statuses[0]?.currentLimit?.name, currentLimit.name)
})

test('a response with neither OK nor OVER_LIMIT is refused', () => {
  assert.throws(() => decodeResponse(Buffer.alloc(0)), {
    message: /neither OK nor OVER_LIMIT/,
  })
})

test('parts of a response that a client cannot use are skipped', () => {
  const oracle = toOracleResponse(plain)
  oracle.rawBody = Buffer.from('body')
  oracle.requestHeadersToAdd = oracle.responseHeadersToAdd
  const encoded = Buffer.from(toBinary(RateLimitResponseSchema, oracle))
  assert.deepEqual(decodeResponse(encoded), plain)
})
