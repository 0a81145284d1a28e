import assert from 'node:assert/strict'
import {
  create,
  type DescEnum,
  isUnknownEnum,
  type JsonObject as ProtoJsonObject,
  type UnknownEnum,
} from '@bufbuild/protobuf'
import fc from 'fast-check'
import {
  type RateLimitRequest as OracleRequest,
  type RateLimitResponse as OracleResponse,
  RateLimitRequestSchema,
  RateLimitResponseSchema,
  RateLimitResponse_RateLimit_Unit as Unit,
  RateLimitResponse_RateLimit_UnitSchema as UnitSchema,
} from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import {
  RateLimitUnit,
  RateLimitUnitSchema,
} from '../../src/protocol/generated/envoy/type/v3/ratelimit_unit_pb.ts'
import {
  type Code,
  type JsonObject,
  OK,
  OVER_LIMIT,
  type RateLimitRequest,
  type RateLimitResponse,
} from '../../src/protocol/message.ts'

/** Simple words, any Unicode text, and texts that need two bytes for their length. */
export const texts = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', 'tenant', 'remote_address', '\u{feff}bom', 'ключ', '\0', '__proto__'),
  fc.string({ unit: 'binary', minLength: 60, maxLength: 90 }),
  fc.nat(20_000).map((length) => 'x'.repeat(length)),
)
function record<Model>(model: { [Name in keyof Model]: fc.Arbitrary<Model[Name]> }) {
  return fc.record<Model>(model, { noNullPrototype: true })
}

const uint32 = fc.oneof(fc.nat(200), fc.integer({ min: 0, max: 0xffff_ffff }))
const codes = fc.constantFrom<Code>(OK, OVER_LIMIT)
/** 64-bit values that a double represents exactly. */
const uint64 = fc.oneof(fc.nat(200), fc.maxSafeNat(), fc.constantFrom(2 ** 53, 2 ** 60, 2 ** 63))

const overrides = record({
  requestsPerUnit: uint32,
  unit: fc.oneof(fc.integer({ min: 0, max: 8 }), fc.integer()),
})

export const requests: fc.Arbitrary<RateLimitRequest> = record({
  domain: texts,
  descriptors: fc.array(
    record({
      entries: fc.array(record({ key: texts, value: texts }), { maxLength: 4 }),
      limit: fc.option(overrides, { nil: undefined }),
      hitsAddend: fc.option(uint64, { nil: undefined }),
      isNegativeHits: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  hitsAddend: uint32,
})

const metadata = fc.letrec<{ object: JsonObject; value: JsonObject[string] }>((tie) => ({
  object: fc.dictionary(fc.string({ unit: 'binary', maxLength: 8 }), tie('value'), {
    maxKeys: 4,
    noNullPrototype: true,
  }),
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, -1.5, 2 ** 60, ''),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
})).object

export const responses: fc.Arbitrary<RateLimitResponse> = record({
  overallCode: codes,
  statuses: fc.array(
    record({
      code: codes,
      currentLimit: fc.option(record({ requestsPerUnit: uint32, unit: fc.nat(9), name: texts }), {
        nil: undefined,
      }),
      limitRemaining: uint32,
      resetSeconds: fc.option(fc.nat(31_536_000), { nil: undefined }),
    }),
    { maxLength: 4 },
  ),
  responseHeadersToAdd: fc.array(record({ key: texts, value: texts }), { maxLength: 3 }),
  dynamicMetadata: fc.option(metadata, { nil: undefined }),
})

export function toOracleRequest(request: RateLimitRequest): OracleRequest {
  return create(RateLimitRequestSchema, {
    ...request,
    descriptors: request.descriptors.map(({ entries, limit, hitsAddend, isNegativeHits }) => ({
      entries: [...entries],
      ...(limit && {
        limit: { ...limit, unit: toEnum(RateLimitUnitSchema, RateLimitUnit, limit.unit) },
      }),
      ...(hitsAddend === undefined ? {} : { hitsAddend: BigInt(hitsAddend) }),
      isNegativeHits,
    })),
  })
}

export function fromOracleRequest(oracle: OracleRequest): RateLimitRequest {
  return {
    domain: oracle.domain,
    descriptors: oracle.descriptors.map(({ entries, limit, hitsAddend, isNegativeHits }) => ({
      entries: entries.map(({ key, value }) => ({ key, value })),
      limit: limit && { requestsPerUnit: limit.requestsPerUnit, unit: limit.unit },
      hitsAddend: hitsAddend === undefined ? undefined : Number(hitsAddend),
      isNegativeHits,
    })),
    hitsAddend: oracle.hitsAddend,
  }
}

export function toOracleResponse(response: RateLimitResponse): OracleResponse {
  const { overallCode, statuses, responseHeadersToAdd, dynamicMetadata } = response
  return create(RateLimitResponseSchema, {
    overallCode,
    statuses: statuses.map(({ code, currentLimit, limitRemaining, resetSeconds }) => ({
      code,
      ...(currentLimit && {
        currentLimit: { ...currentLimit, unit: toEnum(UnitSchema, Unit, currentLimit.unit) },
      }),
      limitRemaining,
      ...(resetSeconds === undefined
        ? {}
        : { durationUntilReset: { seconds: BigInt(resetSeconds), nanos: 0 } }),
    })),
    responseHeadersToAdd: [...responseHeadersToAdd],
    ...(dynamicMetadata === undefined ? {} : { dynamicMetadata: toProtoJson(dynamicMetadata) }),
  })
}

function toProtoJson(object: JsonObject): ProtoJsonObject {
  return JSON.parse(JSON.stringify(object))
}

/** The types of the library distinguish enum values with a name from other numbers. */
function toEnum<Known extends number>(
  desc: DescEnum,
  numbers: Readonly<Record<string, Known>>,
  number: number,
): Known | UnknownEnum {
  const known = Object.values(numbers).find((candidate) => candidate === number)
  if (known !== undefined) return known
  assert.ok(isUnknownEnum(desc, number))
  return number
}
