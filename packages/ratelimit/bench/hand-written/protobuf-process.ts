// Decodes or encodes messages in a separate process.

import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import { answerParent } from '@portcullis/bench-kit/answer-parent'
import { decodeRequest } from '../../src/protocol/decode.ts'
import { encodeRequest, encodeResponse } from '../../src/protocol/encode.ts'
import {
  RateLimitRequestSchema,
  RateLimitResponse_RateLimit_Unit,
  RateLimitResponseSchema,
} from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import type { RateLimitRequest, RateLimitResponse } from '../../src/protocol/message.ts'

export const codecs = ['by hand', '@bufbuild/protobuf'] as const
export type Codec = (typeof codecs)[number]
export const messages = ['decode RateLimitRequest', 'encode RateLimitResponse'] as const

export interface ProtobufJob {
  readonly codec: Codec
  readonly message: (typeof messages)[number]
  readonly descriptors: number
  readonly calls: number
}

type Work = (descriptors: number) => () => number

const work: Readonly<Record<ProtobufJob['message'], Readonly<Record<Codec, Work>>>> = {
  'decode RateLimitRequest': {
    'by hand': (descriptors) => {
      const bytes = toRequestBytes(descriptors)
      return () => decodeRequest(bytes, 0, bytes.length).descriptors.length
    },
    '@bufbuild/protobuf': (descriptors) => {
      const bytes = toRequestBytes(descriptors)
      return () => fromBinary(RateLimitRequestSchema, bytes).descriptors.length
    },
  },
  'encode RateLimitResponse': {
    'by hand': (descriptors) => {
      const response = toResponse(descriptors)
      return () => encodeResponse(response).length
    },
    '@bufbuild/protobuf': (descriptors) => {
      const response = toResponse(descriptors)
      return () => toBinary(RateLimitResponseSchema, toMessage(response)).length
    },
  },
}

answerParent(async ({ codec, message, descriptors, calls }: ProtobufJob) => {
  const run = work[message][codec](descriptors)
  let bytes = 0
  for (let call = 0; call < calls / 4; call++) bytes += run()
  const start = process.cpuUsage()
  for (let call = 0; call < calls; call++) bytes += run()
  const { user, system } = process.cpuUsage(start)
  if (bytes === 0) throw new Error('Nothing was done')
  return { cpuSeconds: (user + system) / 1e6 }
})

function toRequestBytes(descriptors: number): Buffer {
  const request: RateLimitRequest = {
    domain: 'bench',
    hitsAddend: 0,
    descriptors: Array.from({ length: descriptors }, (_, at) => ({
      entries: [
        { key: 'tenant', value: `tenant-${at}-of-many` },
        { key: 'path', value: `/api/v1/things/${at}` },
      ],
      limit: undefined,
      hitsAddend: undefined,
      isNegativeHits: false,
    })),
  }
  const { buffer, length } = encodeRequest(request)
  return Buffer.from(buffer.subarray(0, length))
}

function toResponse(descriptors: number): RateLimitResponse {
  return {
    overallCode: 1,
    statuses: Array.from({ length: descriptors }, () => ({
      code: 1,
      currentLimit: { requestsPerUnit: 4_000_000_000, unit: 3, name: 'tenant' },
      limitRemaining: 3_999_999_000,
      resetSeconds: 1_800,
    })),
    responseHeadersToAdd: [],
    dynamicMetadata: undefined,
  }
}

function toMessage({ overallCode, statuses }: RateLimitResponse) {
  const init: MessageInitShape<typeof RateLimitResponseSchema> = {
    overallCode,
    statuses: statuses.map(({ code, currentLimit, limitRemaining, resetSeconds }) => ({
      code,
      limitRemaining,
      currentLimit: { ...currentLimit, unit: RateLimitResponse_RateLimit_Unit.HOUR },
      durationUntilReset: { seconds: BigInt(resetSeconds ?? 0), nanos: 0 },
    })),
  }
  return create(RateLimitResponseSchema, init)
}
