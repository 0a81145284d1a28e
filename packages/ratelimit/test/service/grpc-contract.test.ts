import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { status } from '@portcullis/grpc-unary'
import { descriptor, requestFor } from '../support/decider.ts'
import { openService } from '../support/service-app.ts'
import {
  decisionPath,
  openDecisionClient,
  readStatistics,
  toBytes,
  toResponse,
} from '../support/service-client.ts'

const rules = `
domain: d
descriptors:
  - { key: k, rate_limit: { unit: day, requests_per_unit: 5, name: five } }
`

async function open(t: TestContext, text = rules) {
  const service = await openService(t, { rules: text })
  const client = await openDecisionClient(t, service)
  return { service, ...client }
}

const one = () => requestFor('d', descriptor('k=v'))

test('the method has the path that Envoy calls', async (t) => {
  const { call } = await open(t)
  const { code, response } = await call(
    '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
    toBytes(one()),
  )
  assert.equal(code, status.OK)
  const { overallCode, statuses } = toResponse({ ...(await call(decisionPath, toBytes(one()))) })
  assert.ok(response.length > 0)
  assert.deepEqual([overallCode, statuses[0]?.limitRemaining], [1, 3])
})

test('the response contains the name of the limit', async (t) => {
  const { decide } = await open(t)
  const { statuses } = await decide(one())
  assert.deepEqual(statuses[0]?.currentLimit, { requestsPerUnit: 5, unit: 4, name: 'five' })
})

const unknown = [
  [
    '/envoy.service.ratelimit.v2.RateLimitService/ShouldRateLimit',
    'unknown service envoy.service.ratelimit.v2.RateLimitService',
  ],
  [
    '/pb.lyft.ratelimit.RateLimitService/ShouldRateLimit',
    'unknown service pb.lyft.ratelimit.RateLimitService',
  ],
  ['/unknown.Service/Method', 'unknown service unknown.Service'],
  [
    '/envoy.service.ratelimit.v3.RateLimitService/Nothing',
    'unknown method Nothing for service envoy.service.ratelimit.v3.RateLimitService',
  ],
] as const

for (const [path, text] of unknown) {
  test(`${path} is not implemented`, async (t) => {
    const { call } = await open(t)
    const { code, message } = await call(path, toBytes(one()))
    assert.deepEqual([code, message], [status.UNIMPLEMENTED, text])
  })
}

test('a message that is not protobuf is an internal error with the reason, and no decision', async (t) => {
  const { call, service, decide } = await open(t)
  const truncated = toBytes(one()).subarray(0, -3)
  const invalidUtf8 = Uint8Array.of(0x0a, 2, 0xc3, 0x28)
  const wrongWireType = Uint8Array.of(0x0f)
  const hugeLength = Uint8Array.of(0x12, 0xff, 0xff, 0xff, 0xff, 0x0f)
  for (const bytes of [truncated, invalidUtf8, wrongWireType, hugeLength]) {
    const { code, message } = await call(decisionPath, bytes)
    assert.equal(code, status.INTERNAL)
    assert.match(message, /cannot be decoded/)
  }
  assert.equal((await decide(one())).statuses[0]?.limitRemaining, 4)
  const name = 'ratelimit_server.ShouldRateLimit.total_requests'
  assert.equal((await readStatistics(service)).get(name), 5)
})

test('fields that a newer client sends are ignored', async (t) => {
  const { call } = await open(t)
  const newer = Uint8Array.of(0xa2, 0x06, 3, 1, 2, 3, 0xa8, 0x06, 7)
  const answer = await call(decisionPath, Buffer.concat([toBytes(one()), newer]))
  assert.equal(toResponse(answer).statuses[0]?.limitRemaining, 4)
})

test('a message of 4 MiB is read and a larger one is refused', async (t) => {
  const { tryDecide: send } = await open(t)
  const sized = (bytes: number) => {
    const request = (value: string) => requestFor('d', descriptor(`k=${value}`))
    const frame = toBytes(request('v'.repeat(bytes))).length - bytes
    return request('v'.repeat(bytes - frame))
  }
  assert.equal(toBytes(sized(4 * 2 ** 20)).length, 4 * 2 ** 20)
  assert.equal((await send(sized(4 * 2 ** 20))).code, status.OK)
  const { code, message } = await send(sized(4 * 2 ** 20 + 1))
  assert.equal(code, status.RESOURCE_EXHAUSTED)
  assert.match(message, /4194304/)
  assert.equal((await send(one())).code, status.OK)
})

test('an invalid request is refused with the message of envoyproxy/ratelimit', async (t) => {
  const { tryDecide: send, service } = await open(t)
  const nothing = await send({ domain: '', descriptors: [], hitsAddend: 0 })
  assert.deepEqual(
    [nothing.code, nothing.message],
    [status.UNKNOWN, 'rate limit domain must not be empty'],
  )
  const noDescriptors = await send(requestFor('d'))
  assert.deepEqual(
    [noDescriptors.code, noDescriptors.message],
    [status.UNKNOWN, 'rate limit descriptor list must not be empty'],
  )
  const name = 'ratelimit.service.call.should_rate_limit.service_error'
  assert.equal((await readStatistics(service)).get(name), 2)
})

test('without a configuration every valid call fails with a message about it', async (t) => {
  const { tryDecide: send, service } = await open(t, 'domain: [')
  const { code, message } = await send(one())
  assert.deepEqual([code, message], [status.UNKNOWN, 'no rate limit configuration loaded'])
  assert.equal(
    (await send(requestFor('d'))).message,
    'rate limit descriptor list must not be empty',
  )
  const statistics = await readStatistics(service)
  assert.equal(statistics.get('ratelimit.service.config_load_error'), 1)
  assert.equal(statistics.get('ratelimit.service.config_load_success'), 0)
})

test('an unknown domain is not an error', async (t) => {
  const { decide } = await open(t)
  const { overallCode, statuses } = await decide(requestFor('other', descriptor('k=v')))
  assert.deepEqual([overallCode, statuses.length, statuses[0]?.currentLimit], [1, 1, undefined])
})

test('a call whose deadline has passed when it arrives is not counted', async (t) => {
  const { tryDecide: send, decide } = await open(t)
  const { code } = await send(one(), { headers: { 'grpc-timeout': '1n' } })
  assert.equal(code, status.DEADLINE_EXCEEDED)
  assert.equal((await decide(one())).statuses[0]?.limitRemaining, 4)
})

test('calls on one connection are answered independently', async (t) => {
  const { tryDecide: send } = await open(t)
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      index % 4 === 0 ? send(requestFor('')) : send(requestFor('d', descriptor(`k=${index}`))),
    ),
  )
  for (const [index, { code }] of answers.entries()) {
    assert.equal(code, index % 4 === 0 ? status.UNKNOWN : status.OK)
  }
})

test('a limit of the gRPC listener follows its setting', async (t) => {
  const service = await openService(t, { rules, env: { GRPC_MAX_MESSAGE_BYTES: '20' } })
  const { call } = await openDecisionClient(t, service)
  assert.equal((await call(decisionPath, toBytes(one()))).code, status.OK)
  const { code, message } = await call(
    decisionPath,
    toBytes(requestFor('d', descriptor('k=value'), descriptor('k=v'))),
  )
  assert.equal(code, status.RESOURCE_EXHAUSTED)
  assert.match(message, /larger than max/)
})
