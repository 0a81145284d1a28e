import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { status } from '@grpc/grpc-js'
import { toFileDescriptors } from '../../src/protocol/file-descriptors.ts'
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from '../../src/protocol/generated/grpc/reflection/v1/reflection_pb.ts'
import { createReflectionMethods, reflectionServices } from '../../src/transports/reflection.ts'
import { messagesOf, openGrpcPair, statusOf } from '../support/grpc-js-client.ts'

type ReflectionQuery = NonNullable<
  MessageInitShape<typeof ServerReflectionRequestSchema>['messageRequest']
>
const decision = 'envoy.service.ratelimit.v3.RateLimitService'

async function openExample(t: TestContext, service: string = reflectionServices[0]) {
  const methods = createReflectionMethods({
    services: [decision, 'grpc.health.v1.Health'],
    files: toFileDescriptors(),
  })
  const { stream } = await openGrpcPair(t, methods)
  const call = stream(`/${service}/ServerReflectionInfo`)
  const ended = statusOf(call)
  const nextAnswer = messagesOf(call)
  const query = async (messageRequest: ReflectionQuery) => {
    const request = create(ServerReflectionRequestSchema, { host: 'h', messageRequest })
    call.write(toBinary(ServerReflectionRequestSchema, request))
    return fromBinary(ServerReflectionResponseSchema, await nextAnswer())
  }
  const queryFiles = async (each: ReflectionQuery) => {
    const { messageResponse } = await query(each)
    assert.ok(messageResponse.case === 'fileDescriptorResponse')
    return messageResponse.value.fileDescriptorProto.map(
      (bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name,
    )
  }
  return { call, ended, query, queryFiles }
}

for (const service of reflectionServices) {
  test(`${service} lists the services, with one response per request`, async (t) => {
    const { call, ended, query } = await openExample(t, service)
    for (let i = 0; i < 2; i += 1) {
      const response = await query({ case: 'listServices', value: '*' })
      assert.equal(response.validHost, 'h')
      assert.equal(response.originalRequest?.messageRequest.case, 'listServices')
      assert.ok(response.messageResponse.case === 'listServicesResponse')
      assert.deepEqual(
        response.messageResponse.value.service.map(({ name }) => name),
        [decision, 'grpc.health.v1.Health'],
      )
    }
    call.end()
    assert.equal((await ended).code, status.OK)
  })
}

test('a symbol returns its file and all imports', async (t) => {
  const { queryFiles } = await openExample(t)
  const rls = 'envoy/service/ratelimit/v3/rls.proto'
  for (const value of [
    decision,
    `${decision}.ShouldRateLimit`,
    'envoy.service.ratelimit.v3.RateLimitRequest',
  ]) {
    const files = await queryFiles({ case: 'fileContainingSymbol', value })
    assert.equal(files[0], rls)
    assert.ok(files.includes('envoy/extensions/common/ratelimit/v3/ratelimit.proto'))
    assert.ok(files.includes('google/protobuf/duration.proto'))
    assert.equal(new Set(files).size, files.length)
  }
  assert.equal((await queryFiles({ case: 'fileByFilename', value: rls }))[0], rls)
})

test('an unknown name is an error inside the stream, which stays open', async (t) => {
  const { query } = await openExample(t)
  const queries: ReflectionQuery[] = [
    { case: 'fileByFilename', value: 'no.proto' },
    { case: 'fileContainingSymbol', value: 'no.Symbol' },
    { case: 'allExtensionNumbersOfType', value: 'no.Type' },
    { case: 'fileContainingExtension', value: { containingType: decision, extensionNumber: 1 } },
  ]
  for (const each of queries) {
    const { messageResponse } = await query(each)
    assert.ok(messageResponse.case === 'errorResponse', each.case)
    assert.equal(messageResponse.value.errorCode, status.NOT_FOUND)
  }
  const nothing = await query({ case: undefined })
  assert.ok(nothing.messageResponse.case === 'errorResponse')
  assert.equal(nothing.messageResponse.value.errorCode, status.INVALID_ARGUMENT)
})

test('a request that cannot be decoded ends the stream with INTERNAL', async (t) => {
  const { call, ended } = await openExample(t)
  call.write(Uint8Array.of(0x0a, 5, 1))
  assert.equal((await ended).code, status.INTERNAL)
})
