import { type Methods, status, type UnaryCall } from '@portcullis/grpc-unary'
import type { Decided, DecideEncoded } from '../decide/decide.ts'
import { DecodeError } from '../protocol/decode.ts'
import { encodeResponse } from '../protocol/encode.ts'
import type { Counter } from '../stats/registry.ts'
import type { Timer } from '../stats/timer.ts'

export const rateLimitService = 'envoy.service.ratelimit.v3.RateLimitService'

export interface CallStatistics {
  readonly totalRequests: Counter
  readonly responseTime: Timer
}

/** The decision call. What the caller did wrong and what the store did are UNKNOWN, as in Go. */
export function createRateLimitMethods(
  decide: DecideEncoded,
  { totalRequests, responseTime }: CallStatistics,
): Methods {
  function handle(call: UnaryCall): void {
    const startMs = performance.now()
    totalRequests.value += 1
    const decided: Decided = (error, response) => {
      if (response !== undefined) {
        const { buffer, length } = encodeResponse(response)
        call.send(buffer, 0, length)
      } else {
        call.fail(status.UNKNOWN, error?.message ?? 'no decision was made')
      }
      responseTime.observe(performance.now() - startMs)
    }
    try {
      decide(call.buffer, call.start, call.end, call.deadlineMs, decided)
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      call.fail(status.INTERNAL, error.message)
    }
  }

  return { [`/${rateLimitService}/ShouldRateLimit`]: { kind: 'unary', handle } }
}
