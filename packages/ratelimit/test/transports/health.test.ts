import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { status } from '@grpc/grpc-js'
import { createHealth } from '@portcullis/service-kit/process/health'
import {
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthListRequestSchema,
  HealthListResponseSchema,
  HealthCheckResponse_ServingStatus as Serving,
} from '../../src/protocol/generated/grpc/health/v1/health_pb.ts'
import { createHealthMethods } from '../../src/transports/health.ts'
import { trackStreams } from '../../src/transports/open-streams.ts'
import { messagesOf, openGrpcPair, statusOf } from '../support/grpc-js-client.ts'

async function openExample(t: TestContext) {
  const health = createHealth({ store: { isEnabled: true, isHealthy: true } })
  const streams = trackStreams(createHealthMethods(health))
  const pair = await openGrpcPair(t, streams.methods)
  const toRequest = (name: string) =>
    toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service: name }))
  return {
    health,
    streams,
    ...pair,
    check: async (name: string) => {
      const answer = await pair.call('/grpc.health.v1.Health/Check', toRequest(name))
      return fromBinary(HealthCheckResponseSchema, answer).status
    },
    openWatch: (name: string) => {
      const call = pair.watch('/grpc.health.v1.Health/Watch', toRequest(name))
      const nextMessage = messagesOf(call)
      const next = async () => fromBinary(HealthCheckResponseSchema, await nextMessage()).status
      return { call, next }
    },
  }
}

test('Check follows the health for ratelimit, but not for the service with the empty name', async (t) => {
  const { health, check } = await openExample(t)
  assert.deepEqual([await check('ratelimit'), await check('')], [Serving.SERVING, Serving.SERVING])
  health.set('store', false)
  assert.deepEqual(
    [await check('ratelimit'), await check('')],
    [Serving.NOT_SERVING, Serving.SERVING],
  )
  health.set('store', true)
  assert.equal(await check('ratelimit'), Serving.SERVING)
})

test('Check of any other service is NOT_FOUND', async (t) => {
  const { check } = await openExample(t)
  for (const name of ['unknown', 'constructor', 'ü'.repeat(100)]) {
    await assert.rejects(check(name), { code: status.NOT_FOUND, details: 'unknown service' })
  }
})

test('a request that cannot be decoded is INTERNAL', async (t) => {
  const { call } = await openExample(t)
  await assert.rejects(call('/grpc.health.v1.Health/Check', Uint8Array.of(0x0a, 5, 1)), {
    code: status.INTERNAL,
  })
})

test('unknown fields of a request are ignored', async (t) => {
  const { call } = await openExample(t)
  const name = Buffer.from('ratelimit')
  const request = Buffer.from([0x10, 0x07, 0x0a, name.length, ...name, 0x1a, 1, 0])
  const answer = await call('/grpc.health.v1.Health/Check', request)
  assert.equal(fromBinary(HealthCheckResponseSchema, answer).status, Serving.SERVING)
})

test('List returns every service with its state', async (t) => {
  const { health, call } = await openExample(t)
  health.set('store', false)
  const request = toBinary(HealthListRequestSchema, create(HealthListRequestSchema))
  const answer = await call('/grpc.health.v1.Health/List', request)
  const { statuses } = fromBinary(HealthListResponseSchema, answer)
  assert.deepEqual(
    Object.entries(statuses).map(([name, each]) => [name, each.status]),
    [
      ['', Serving.SERVING],
      ['ratelimit', Serving.NOT_SERVING],
    ],
  )
})

test('Watch returns the state immediately and then every change', async (t) => {
  const { health, openWatch } = await openExample(t)
  const { call, next } = openWatch('ratelimit')
  t.after(() => call.cancel())
  call.on('error', () => {})
  assert.equal(await next(), Serving.SERVING)
  health.set('store', false)
  assert.equal(await next(), Serving.NOT_SERVING)
  health.set('store', true)
  assert.equal(await next(), Serving.SERVING)
})

test('Watch of an unknown service reports that and stays open', async (t) => {
  const { health, openWatch } = await openExample(t)
  const { call, next } = openWatch('unknown')
  const ended = statusOf(call)
  assert.equal(await next(), Serving.SERVICE_UNKNOWN)
  health.set('store', false)
  call.cancel()
  assert.equal((await ended).code, status.CANCELLED)
})

test('a watch that is cancelled no longer follows the health', async (t) => {
  let subscribed = 0
  const methods = createHealthMethods({
    isHealthy: true,
    subscribe: () => {
      subscribed += 1
      return () => {
        subscribed -= 1
        unsubscribed.resolve()
      }
    },
  })
  const unsubscribed = Promise.withResolvers<void>()
  const { watch } = await openGrpcPair(t, methods)
  const call = watch('/grpc.health.v1.Health/Watch', Uint8Array.of())
  call.on('error', () => {})
  await once(call, 'data')
  assert.equal(subscribed, 1)
  call.cancel()
  await unsubscribed.promise
  assert.equal(subscribed, 0)
})

test('watches are ended when a server drains, so that it need not wait for them', async (t) => {
  const { streams, server, openWatch } = await openExample(t)
  const { call, next } = openWatch('ratelimit')
  const ended = statusOf(call)
  await next()
  const drained = server.drain()
  streams.end()
  const { code, details } = await ended
  assert.deepEqual([code, details], [status.UNAVAILABLE, 'the server is stopping'])
  await drained
})
