import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromBinary, toBinary } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { decodeRequest } from '../../src/protocol/decode.ts'
import { RateLimitRequestSchema } from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { DecodeError, type RateLimitRequest } from '../../src/protocol/message.ts'
import { fromOracleRequest, requests, toOracleRequest } from './messages.ts'
import { normalise, toVarint } from './strict-wire.ts'

/** Decodes in the middle of a larger buffer, as in the server. */
function decode(message: Uint8Array): RateLimitRequest {
  const buffer = Buffer.concat([Buffer.alloc(7, 0x12), message, Buffer.alloc(9, 0x80)])
  return decodeRequest(buffer, 7, 7 + message.length)
}

function decodeStrictly(message: Uint8Array): RateLimitRequest {
  const normal = normalise(message, RateLimitRequestSchema)
  return fromOracleRequest(fromBinary(RateLimitRequestSchema, normal))
}

/** Either both refuse the bytes, or both decode the same message. */
function assertSame(message: Uint8Array): void {
  let expected: RateLimitRequest
  try {
    expected = decodeStrictly(message)
  } catch {
    assert.throws(() => decode(message), DecodeError)
    return
  }
  assert.deepEqual(decode(message), expected)
}

function assertRefused(message: Uint8Array | readonly number[], reason: RegExp): void {
  assert.throws(() => decode(Uint8Array.from(message)), { name: 'DecodeError', message: reason })
}

test('a request with every field is decoded', () => {
  const request: RateLimitRequest = {
    domain: 'envoy',
    descriptors: [
      {
        entries: [
          { key: 'tenant', value: 'acme' },
          { key: 'città', value: 'Zürich 東京 🚦' },
        ],
        limit: { requestsPerUnit: 4_294_967_295, unit: 7 },
        hitsAddend: 0,
        isNegativeHits: true,
      },
      { entries: [], limit: undefined, hitsAddend: undefined, isNegativeHits: false },
    ],
    hitsAddend: 3,
  }
  assert.deepEqual(decode(toBinary(RateLimitRequestSchema, toOracleRequest(request))), request)
})

test('any request that the library encodes is decoded correctly', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const message = toBinary(RateLimitRequestSchema, toOracleRequest(request))
      assert.deepEqual(decode(message), request)
    }),
    { numRuns: 300 },
  )
})

/** Fields that may occur on the wire: known and unknown, of any wire type, in any order. */
const { noise } = fc.letrec<{ noise: Uint8Array; field: Uint8Array }>((tie) => {
  const fieldNumbers = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1, max: 5 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 ** 29 - 1 }) },
  )
  const varints = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(toVarint),
    fc.integer({ min: 0, max: 300 }).map(toVarint),
    // The same numbers in a longer encoding than necessary.
    fc.integer({ min: 0, max: 127 }).map((low) => Uint8Array.of(0x80 | low, 0x80, 0x80, 0)),
  )
  const withTag = (number: number, wireType: number, ...parts: Uint8Array[]) =>
    Buffer.concat([toVarint(number * 8 + wireType), ...parts])
  const withLength = (content: Uint8Array) => Buffer.concat([toVarint(content.length), content])
  return {
    noise: fc.array(tie('field'), { maxLength: 6 }).map((fields) => Buffer.concat(fields)),
    field: fc.oneof(
      { maxDepth: 5 },
      fc.tuple(fieldNumbers, varints).map(([number, value]) => withTag(number, 0, value)),
      fc
        .tuple(fieldNumbers, fc.string({ maxLength: 5 }))
        .map(([number, text]) => withTag(number, 2, withLength(Buffer.from(text)))),
      fc
        .tuple(fieldNumbers, tie('noise'))
        .map(([number, content]) => withTag(number, 2, withLength(content))),
      fc
        .tuple(fieldNumbers, tie('noise'))
        .map(([number, content]) => withTag(number, 3, content, toVarint(number * 8 + 4))),
      fc
        .tuple(fieldNumbers, fc.uint8Array({ minLength: 8, maxLength: 8 }))
        .map(([number, value]) => withTag(number, 1, value)),
      fc
        .tuple(fieldNumbers, fc.uint8Array({ minLength: 4, maxLength: 4 }))
        .map(([number, value]) => withTag(number, 5, value)),
    ),
  }
})

test('unknown fields, groups and wrong wire types are skipped, and the last value wins', () => {
  fc.assert(fc.property(noise, assertSame), { numRuns: 1_000 })
})

test('every truncated request is decoded as the library does it, or refused', () => {
  fc.assert(
    fc.property(fc.oneof(noise, requests.map(encodeSmall)), (message) => {
      for (let length = 0; length < Math.min(message.length, 300); length++) {
        assertSame(message.subarray(0, length))
      }
    }),
    { numRuns: 60 },
  )
})

test('a request with any byte changed is decoded as the library does it, or refused', () => {
  fc.assert(
    fc.property(
      requests.map(encodeSmall).filter(({ length }) => length > 0),
      fc.nat(),
      fc.integer({ min: 0, max: 255 }),
      (message, place, byte) => {
        message[place % message.length] = byte
        assertSame(message)
      },
    ),
    { numRuns: 1_000 },
  )
})

test('any bytes are decoded as the library does it, or refused', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), assertSame), { numRuns: 1_500 })
})

function encodeSmall(request: RateLimitRequest): Uint8Array {
  return toBinary(RateLimitRequestSchema, toOracleRequest(request))
}

test('a message field that occurs twice is merged', () => {
  const first = Buffer.from('1202' + '0805' + '1a02' + '0807', 'hex')
  const second = Buffer.from('1202' + '1002' + '1a00', 'hex')
  const message = Buffer.concat([Buffer.of(0x12, first.length + second.length), first, second])
  const [descriptor] = decode(message).descriptors
  assert.deepEqual(descriptor?.limit, { requestsPerUnit: 5, unit: 2 })
  assert.equal(descriptor?.hitsAddend, 7)
})

test('a 32-bit field uses the lower half of a longer number', () => {
  const message = Buffer.concat([Buffer.of(0x18), toVarint(2n ** 40n + 9n)])
  assert.equal(decode(message).hitsAddend, 9)
})

test('a 64-bit addend is rounded to the nearest double', () => {
  const value = Buffer.concat([Buffer.of(0x08), toVarint(2n ** 64n - 1n)])
  const addend = Buffer.concat([Buffer.of(0x1a, value.length), value])
  const message = Buffer.concat([Buffer.of(0x12, addend.length), addend])
  assert.equal(decode(message).descriptors[0]?.hitsAddend, 2 ** 64)
})

test('malformed messages are refused with the reason', () => {
  assertRefused([0x0a, 0x05, 0x61], /ends in the middle of a field/)
  assertRefused([0x0a], /ends in the middle of a field/)
  assertRefused([0x0a, 0x01, 0xff], /not valid UTF-8/)
  assertRefused([0x0a, 0x03, 0xed, 0xa0, 0x80], /not valid UTF-8/)
  assertRefused([0x00, 0x01], /number 0/)
  assertRefused([0x26, 0x01], /wire type 6/)
  assertRefused([0x27, 0x01], /wire type 7/)
  assertRefused([0x2b, 0x08, 0x01], /ends in the middle of a field/)
  assertRefused([0x2b, 0x34], /number of another one/)
  assertRefused([0x2c], /not started/)
  assertRefused([0x18, ...Buffer.alloc(10, 0x80), 0x01], /more than 10 bytes/)
  assertRefused([0x0a, 0x80, 0x80, 0x80, 0x80, 0x10], /out of range/)
  assertRefused(Buffer.alloc(101, 0x2b), /nested deeper than 100 levels/)
  // The descriptor is complete, but its entry would reach beyond it.
  assertRefused([0x12, 0x03, 0x0a, 0x02, 0x0a, 0x00], /ends in the middle of a field/)
})

test('groups nested a hundred deep are skipped, and a later message is not affected', () => {
  const deep = Buffer.concat([Buffer.alloc(100, 0x2b), Buffer.alloc(100, 0x2c)])
  assert.equal(decode(Buffer.concat([deep, Buffer.of(0x18, 4)])).hitsAddend, 4)
  assertRefused(Buffer.alloc(200_000, 0x2b), /nested deeper than 100 levels/)
  assert.equal(decode(Buffer.concat([deep, Buffer.of(0x18, 5)])).hitsAddend, 5)
})

test('strings do not change when their buffer is overwritten', () => {
  const request = {
    domain: 'some-domain-name',
    descriptors: [
      {
        entries: [{ key: 'a-key-of-some-length', value: 'a-value-of-some-length' }],
        limit: undefined,
        hitsAddend: undefined,
        isNegativeHits: false,
      },
    ],
    hitsAddend: 0,
  }
  const buffer = Buffer.from(encodeSmall(request))
  const decoded = decodeRequest(buffer, 0, buffer.length)
  buffer.fill(0x61)
  assert.deepEqual(decoded, request)
})

test('names that share a slot of the table are distinguished', () => {
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 10_000; index++) {
      const name = `name-${index}`
      const bytes = Buffer.from(name)
      const { domain } = decode(Buffer.concat([Buffer.of(0x0a, bytes.length), bytes]))
      assert.equal(domain, name)
    }
  }
})

test('every request and descriptor has the same members in the same order', () => {
  const bare = decode(Buffer.from('1200', 'hex'))
  const full = decode(Buffer.from('18010a01611206200112001a00', 'hex'))
  assert.deepEqual(Object.keys(bare), Object.keys(full))
  assert.deepEqual(
    Object.keys(bare.descriptors[0] ?? {}),
    Object.keys(full.descriptors[0] ?? { none: true }),
  )
})

test('10,000 descriptors and values of a megabyte are decoded', () => {
  const value = 'ü'.repeat(500_000)
  const one = {
    entries: [{ key: 'k', value: 'v' }],
    limit: undefined,
    hitsAddend: undefined,
    isNegativeHits: false,
  }
  const request = {
    domain: 'd',
    descriptors: [
      ...new Array<typeof one>(10_000).fill(one),
      { ...one, entries: [{ key: value, value }] },
    ],
    hitsAddend: 1,
  }
  assert.deepEqual(decode(encodeSmall(request)), request)
})
