import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js'
import {
  RateLimitResponse_Code as Code,
  RateLimitRequestSchema,
  type RateLimitResponse,
  RateLimitResponseSchema,
} from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { openService } from '../support/service-app.ts'
import { decisionPath } from '../support/service-client.ts'

type Request = MessageInitShape<typeof RateLimitRequestSchema>

/** A client that shares no code with this service, neither transport nor encoding. */
async function openForeignClient(t: TestContext) {
  const { grpcAddress } = await openService(t, {
    rules:
      'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 2 } }]\n',
  })
  const client = new Client(grpcAddress, credentials.createInsecure())
  t.after(() => client.close())
  return (request: Request, deadline = Date.now() + 120_000) =>
    new Promise<RateLimitResponse>((resolve, reject) => {
      client.makeUnaryRequest(
        decisionPath,
        (message: Request) =>
          Buffer.from(toBinary(RateLimitRequestSchema, create(RateLimitRequestSchema, message))),
        (bytes: Buffer) => fromBinary(RateLimitResponseSchema, bytes),
        request,
        { deadline },
        (error, answer) => {
          if (answer === undefined) reject(error)
          else resolve(answer)
        },
      )
    })
}

const request: Request = {
  domain: 'd',
  descriptors: [{ entries: [{ key: 'k', value: 'grün' }] }, { entries: [] }],
}

test('a grpc-js client gets decisions, with one status per descriptor', async (t) => {
  const call = await openForeignClient(t)
  const first = await call(request)
  assert.equal(first.overallCode, Code.OK)
  assert.deepEqual(
    first.statuses.map(({ code, limitRemaining }) => [code, limitRemaining]),
    [
      [Code.OK, 1],
      [Code.OK, 0],
    ],
  )
  assert.equal(first.statuses[0]?.durationUntilReset?.nanos, 0)
  await call(request)
  const third = await call(request)
  assert.equal(third.overallCode, Code.OVER_LIMIT)
})

test('a grpc-js client gets errors with code and message', async (t) => {
  const call = await openForeignClient(t)
  await assert.rejects(call({ ...request, domain: '' }), (error: ServiceError) => {
    assert.equal(error.code, status.UNKNOWN)
    assert.equal(error.details, 'rate limit domain must not be empty')
    return true
  })
})

test('a hundred concurrent calls on one connection are all answered', async (t) => {
  const call = await openForeignClient(t)
  const answers = await Promise.all(Array.from({ length: 100 }, () => call(request)))
  const passed = answers.filter(({ overallCode }) => overallCode === Code.OK)
  assert.equal(passed.length, 2)
})
