import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create, createFileRegistry, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { toFileDescriptors } from '../../src/protocol/file-descriptors.ts'

test('the files describe every service, and imports come first', () => {
  const files = toFileDescriptors()
  const set = create(FileDescriptorSetSchema, {
    file: files.map(({ encoded }) => fromBinary(FileDescriptorProtoSchema, encoded)),
  })
  const registry = createFileRegistry(set)
  const methods = (service: string) =>
    registry.getService(service)?.methods.map(({ name, methodKind }) => `${name} ${methodKind}`)
  assert.deepEqual(methods('envoy.service.ratelimit.v3.RateLimitService'), [
    'ShouldRateLimit unary',
  ])
  assert.deepEqual(methods('grpc.health.v1.Health'), [
    'Check unary',
    'List unary',
    'Watch server_streaming',
  ])
  assert.deepEqual(methods('grpc.reflection.v1.ServerReflection'), [
    'ServerReflectionInfo bidi_streaming',
  ])
  for (const [index, { dependencies }] of files.entries()) {
    const earlier = files.slice(0, index).map(({ name }) => name)
    assert.deepEqual(
      dependencies.filter((name) => !earlier.includes(name)),
      [],
    )
  }
})

test('a symbol is in exactly one file', () => {
  const files = toFileDescriptors()
  const where = (symbol: string) =>
    files.filter(({ symbols }) => symbols.includes(symbol)).map(({ name }) => name)
  const service = 'envoy.service.ratelimit.v3.RateLimitService'
  assert.deepEqual(where(service), ['envoy/service/ratelimit/v3/rls.proto'])
  assert.deepEqual(where(`${service}.ShouldRateLimit`), ['envoy/service/ratelimit/v3/rls.proto'])
  assert.deepEqual(where('envoy.service.ratelimit.v3.RateLimitResponse.RateLimit.Unit'), [
    'envoy/service/ratelimit/v3/rls.proto',
  ])
  assert.deepEqual(where('google.protobuf.Duration'), ['google/protobuf/duration.proto'])
  const all = files.flatMap(({ symbols }) => symbols)
  assert.equal(new Set(all).size, all.length)
})
