import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { Client, credentials } from '@grpc/grpc-js'
import { status } from '@portcullis/grpc-unary'
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from '../../src/protocol/generated/grpc/reflection/v1/reflection_pb.ts'
import { reflectionServices } from '../../src/transports/reflection.ts'
import { messagesOf, statusOf } from '../support/grpc-js-client.ts'
import { openService, type TestApp } from '../support/service-app.ts'

const asBytes = (bytes: Uint8Array) => Buffer.from(bytes)

function openReflection(t: TestContext, { grpcAddress }: TestApp, service: string) {
  const client = new Client(grpcAddress, credentials.createInsecure())
  const call = client.makeBidiStreamRequest(`/${service}/ServerReflectionInfo`, asBytes, asBytes)
  t.after(() => {
    call.cancel()
    client.close()
  })
  const ended = statusOf(call)
  const next = messagesOf(call)
  const request = create(ServerReflectionRequestSchema, {
    messageRequest: { case: 'listServices', value: '' },
  })
  call.write(toBinary(ServerReflectionRequestSchema, request))
  return { ended, next, call }
}

for (const service of reflectionServices) {
  test(`${service} is available only if enabled`, async (t) => {
    const closed = openReflection(t, await openService(t), service)
    assert.equal((await closed.ended).code, status.UNIMPLEMENTED)

    const app = await openService(t, { env: { GRPC_REFLECTION: 'true' } })
    const { next, call, ended } = openReflection(t, app, service)
    const { messageResponse } = fromBinary(ServerReflectionResponseSchema, await next())
    assert.ok(messageResponse.case === 'listServicesResponse')
    const names = messageResponse.value.service.map(({ name }) => name)
    for (const listed of [
      'envoy.service.ratelimit.v3.RateLimitService',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ]) {
      assert.ok(names.includes(listed), listed)
      // Tools request the definition of every listed service.
      const query = create(ServerReflectionRequestSchema, {
        messageRequest: { case: 'fileContainingSymbol', value: listed },
      })
      call.write(toBinary(ServerReflectionRequestSchema, query))
      const { messageResponse: definition } = fromBinary(
        ServerReflectionResponseSchema,
        await next(),
      )
      assert.ok(definition.case === 'fileDescriptorResponse', listed)
      const [file] = definition.value.fileDescriptorProto
      assert.ok(file)
      assert.equal(
        listed.startsWith(`${fromBinary(FileDescriptorProtoSchema, file).package}.`),
        true,
      )
    }
    call.end()
    assert.equal((await ended).code, status.OK)
  })
}
