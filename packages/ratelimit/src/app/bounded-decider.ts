import type { Decider } from '../decide/decide.ts'
import { ExcessError } from '../decide/decision.ts'
import { findEncodedExcess, findExcess, type RequestBounds } from '../protocol/request-bounds.ts'
import type { Counter } from '../stats/instruments.ts'

/** Refuses requests that are too large before anything else is done with them. */
export function boundDecider(
  { decide, decideEncoded }: Decider,
  bounds: RequestBounds,
  serviceErrors: Counter,
): Decider {
  const toError = (excess: string): ExcessError => {
    serviceErrors.value += 1
    return new ExcessError(excess)
  }
  return {
    decide(request, deadlineMs, decided) {
      const excess = findExcess(request.descriptors, bounds)
      if (excess === undefined) decide(request, deadlineMs, decided)
      else decided(toError(excess), undefined)
    },
    decideEncoded(buffer, start, end, deadlineMs, decided) {
      const excess = findEncodedExcess(buffer, start, end, bounds)
      if (excess === undefined) decideEncoded(buffer, start, end, deadlineMs, decided)
      else decided(toError(excess), undefined)
    },
  }
}
