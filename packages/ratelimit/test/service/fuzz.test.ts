/**
 * @legs safety, endurance
 * @servers redis
 */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fromJson, toBinary } from '@bufbuild/protobuf'
import { status } from '@portcullis/grpc-unary'
import { open } from '@portcullis/test-servers'
import { enduranceOr } from '@portcullis/test-servers/endurance'
import fc from 'fast-check'
import { RateLimitRequestSchema } from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import {
  decisionPath,
  openDecisionClient,
  postJson,
  toResponse,
} from '../support/service-client.ts'
import { startService } from '../support/service-process.ts'

const rules = `
domain: d
descriptors:
  - { key: a, rate_limit: { unit: second, requests_per_unit: 3 } }
  - { key: a, value: x*, shadow_mode: true, rate_limit: { unit: minute, requests_per_unit: 0 } }
  - key: b
    detailed_metric: true
    rate_limit: { unit: year, requests_per_unit: 4294967295, name: big }
    descriptors:
      - { key: a, quota_mode: true, rate_limit: { unit: week, requests_per_unit: 1 } }
  - { key: c, value: '*', share_threshold: true, rate_limit: { unit: day, requests_per_unit: 9 } }
  - { key: u, rate_limit: { unlimited: true, replaces: [{ name: big }] } }
  - { key: w, metadata: { deep: { list: [1, two, null] } }, rate_limit: { unit: hour, requests_per_unit: 2 } }
`

const text = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c', 'u', 'w', 'x', 'x1', '') },
  fc.string({ unit: 'binary', maxLength: 20 }).map((generated) => generated.toWellFormed()),
  fc.constantFrom('__proto__', '*', '_', '.', ':|', '\n', '1.2.3.4', '%s%n', '🦀'),
)
const uint32 = fc.oneof(
  fc.constantFrom(0, 1, 5, 2 ** 31, 2 ** 32 - 1),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
)
const uint64 = fc.oneof(
  fc.constantFrom(0n, 1n, 2n ** 32n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
)
const unit = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 9 }) },
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
)
const descriptor = fc.record(
  {
    entries: fc.array(fc.record({ key: text, value: text }), { maxLength: 4 }),
    limit: fc.record({ requestsPerUnit: uint32, unit }),
    hitsAddend: uint64.map(String),
    isNegativeHits: fc.boolean(),
  },
  { requiredKeys: [] },
)
/** A request in proto3 JSON. */
const request = fc.record({
  domain: fc.oneof({ weight: 8, arbitrary: fc.constant('d') }, text),
  descriptors: fc.array(descriptor, { maxLength: 6 }),
  hitsAddend: uint32,
})
type Request = typeof request extends fc.Arbitrary<infer Generated> ? Generated : never

function encode(message: Request): Uint8Array {
  return toBinary(RateLimitRequestSchema, fromJson(RateLimitRequestSchema, message))
}

/** The messages of expected errors; an internal error would have another one. */
const knownFailures =
  /^rate limit (?:domain|descriptor list) must not be empty$|out of range|overflow|not an integer/

async function fuzz(t: TestContext, env: Readonly<Record<string, string>>): Promise<void> {
  const service = await startService(t, {
    rules,
    env: { LIMIT_RESPONSE_HEADERS_ENABLED: 'true', RESPONSE_DYNAMIC_METADATA: 'true', ...env },
  })
  const { call } = await openDecisionClient(t, service)

  await t.test('over gRPC', async () => {
    const property = fc.asyncProperty(request, async (message) => {
      const answer = await call(decisionPath, encode(message))
      if (answer.code !== status.OK) {
        assert.equal(answer.code, status.UNKNOWN, answer.message)
        assert.match(answer.message, knownFailures)
        return
      }
      const { statuses, overallCode } = toResponse(answer)
      assert.equal(statuses.length, message.descriptors.length)
      assert.ok(overallCode === 1 || overallCode === 2)
      for (const { resetSeconds = 1 } of statuses) {
        assert.ok(resetSeconds >= 1 && resetSeconds <= 31_536_000)
      }
    })
    await fc.assert(property, { numRuns: enduranceOr(50_000, 400) })
  })
  await t.test('over JSON', async () => {
    const property = fc.asyncProperty(request, async (message) => {
      const { status: code, text: body } = await postJson(service, JSON.stringify(message))
      if (code === 400) assert.ok(message.domain === '' || message.descriptors.length === 0)
      else if (code === 503) assert.match(JSON.parse(body).error, knownFailures)
      else assert.equal(JSON.parse(body).overallCode, code === 200 ? 'OK' : 'OVER_LIMIT')
    })
    await fc.assert(property, { numRuns: enduranceOr(20_000, 150) })
  })
  await t.test('messages with bytes changed', async () => {
    const at = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 })
    const property = fc.asyncProperty(request, at, async (message, changes) => {
      const bytes = encode(message)
      for (const [place, byte] of changes) {
        if (bytes.length > 0) bytes[place % bytes.length] = byte
      }
      const { code, message: reason } = await call(decisionPath, bytes)
      if (code === status.UNKNOWN) assert.match(reason, knownFailures)
      else if (code === status.INTERNAL) assert.match(reason, /cannot be decoded/)
      else assert.equal(code, status.OK, reason)
    })
    await fc.assert(property, { numRuns: enduranceOr(50_000, 400) })
  })
  assert.equal(service.hasEnded, false)
  assert.doesNotMatch(service.log, /level=(?:error|fatal)|^\s+at /m)
}

test('no request can break a service that counts in memory', async (t) => {
  await fuzz(t, {})
})

test('no request can break a service that counts in Redis', async (t) => {
  const redis = await open(t, 'redis')
  if (redis) {
    await fuzz(t, {
      KVSTORE_URL: `127.0.0.1:${redis.port}`,
      STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT: 'true',
      LOCAL_CACHE_SIZE_IN_BYTES: '1000000',
    })
  }
})
