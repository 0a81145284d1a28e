import { fromBinary } from '@bufbuild/protobuf'
import { RateLimitResponseSchema } from '../../src/protocol/generated/envoy/service/ratelimit/v3/rls_pb.ts'
import { type Code, OK, OVER_LIMIT, type RateLimitResponse } from '../../src/protocol/message.ts'

/** Converts the message of the generated decoder to the type that the service encodes. */
export function decodeResponse(message: Uint8Array): RateLimitResponse {
  const response = fromBinary(RateLimitResponseSchema, message)
  return {
    overallCode: toCode(response.overallCode),
    statuses: response.statuses.map((status) => ({
      code: toCode(status.code),
      currentLimit: status.currentLimit && {
        requestsPerUnit: status.currentLimit.requestsPerUnit,
        unit: status.currentLimit.unit,
        name: status.currentLimit.name,
      },
      limitRemaining: status.limitRemaining,
      resetSeconds: status.durationUntilReset && Number(status.durationUntilReset.seconds),
    })),
    responseHeadersToAdd: response.responseHeadersToAdd.map(({ key, value }) => ({ key, value })),
    dynamicMetadata: response.dynamicMetadata,
  }
}

/** The service never returns UNKNOWN. */
function toCode(number: number): Code {
  if (number === OK || number === OVER_LIMIT) return number
  throw new Error(`the response has the code ${number}, which is neither OK nor OVER_LIMIT`)
}
