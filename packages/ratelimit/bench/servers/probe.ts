import { fromBinary } from '@bufbuild/protobuf'
import { Client, credentials } from '@grpc/grpc-js'
import type { Target } from '@portcullis/bench-kit/server-process'
import {
  type RateLimitResponse,
  RateLimitResponseSchema,
} from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'

const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
const patienceMs = 2000

/** Makes one call with grpc-js. Rejects with the status if it is not OK. */
export async function callOnce(
  { host, port }: Target,
  message: Uint8Array,
): Promise<RateLimitResponse> {
  const client = new Client(`${host}:${port}`, credentials.createInsecure())
  try {
    const answer = await new Promise<Buffer>((resolve, reject) => {
      client.makeUnaryRequest(
        path,
        (bytes: Uint8Array) => Buffer.from(bytes),
        (bytes) => bytes,
        message,
        { deadline: Date.now() + patienceMs },
        (error, bytes) => {
          if (error) reject(error)
          else resolve(bytes ?? Buffer.alloc(0))
        },
      )
    })
    return fromBinary(RateLimitResponseSchema, answer)
  } finally {
    client.close()
  }
}

/** The limit of the first descriptor; undefined if no rule matches. */
export async function readLimit(target: Target, message: Uint8Array): Promise<number | undefined> {
  const { statuses } = await callOnce(target, message)
  return statuses[0]?.currentLimit?.requestsPerUnit
}
