import {
  type Methods,
  type StatusCode,
  status,
  type UnaryCall,
  type UnaryMethod,
} from '@portcullis/grpc-unary'
import type { Counter, Timer } from '@portcullis/service-kit/metrics/instruments'
import type { DecideEncoded } from '../decide/decide.ts'
import { type Decided, ExcessError, OverloadError } from '../decide/decision.ts'
import { encodeResponse } from '../protocol/encode.ts'
import { DecodeError } from '../protocol/message.ts'
import { findEncodedExcess, type RequestBounds } from '../protocol/request-bounds.ts'

export const rateLimitService = 'envoy.service.ratelimit.v3.RateLimitService'

export interface CallStatistics {
  readonly totalRequests: Counter
  readonly responseTime: Timer
}

/**
 * Requests that are too large or too many get a distinct status, so that clients can distinguish them from an
 * outage.
 */
function toStatus(error: Parameters<Decided>[0]): StatusCode {
  if (error instanceof ExcessError) return status.INVALID_ARGUMENT
  if (error instanceof OverloadError) return status.RESOURCE_EXHAUSTED
  return error instanceof DecodeError ? status.INTERNAL : status.UNKNOWN
}

/** The decision call. Invalid requests and failures of the store have the status UNKNOWN, as in Go. */
export function createRateLimitMethods(
  decide: DecideEncoded,
  bounds: RequestBounds,
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
        call.fail(toStatus(error), error?.message ?? 'no decision was made')
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

  const canRefuse: UnaryMethod['canRefuse'] = (buffer, start, end) =>
    findEncodedExcess(buffer, start, end, bounds) !== undefined
  return { [`/${rateLimitService}/ShouldRateLimit`]: { kind: 'unary', handle, canRefuse } }
}
