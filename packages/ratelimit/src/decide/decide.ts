import { CounterKeyError, type StoreError } from '../counters/counter-store.ts'
import { RequestCache } from '../hot/request-cache.ts'
import { decodeRequest } from '../protocol/decode.ts'
import type { RateLimitRequest } from '../protocol/message.ts'
import { addTallies } from './add-tallies.ts'
import { type Decided, ServiceError } from './decided.ts'
import type { DecisionParts, Rules } from './decision.ts'
import { LongRequests, longBytes, longDescriptors } from './long-requests.ts'
import { openTallies } from './open-tallies.ts'
import { toResponse } from './respond.ts'
import { sliceLength } from './slice-length.ts'
import type { Tallies } from './tally.ts'
import { toTallies, toTalliesInSlices } from './to-tallies.ts'

/** Calls back once, before it returns where the store answers at once. */
export type Decide = (request: RateLimitRequest, deadlineMs: number, decided: Decided) => void

/**
 * The same for the encoded request between `start` and `end`. Throws a `DecodeError`, or calls back with
 * one where the request has to wait.
 */
export type DecideEncoded = (
  buffer: Buffer,
  start: number,
  end: number,
  deadlineMs: number,
  decided: Decided,
) => void

export interface Decider {
  readonly decide: Decide
  readonly decideEncoded: DecideEncoded
}

export function createDecider(parts: DecisionParts): Decider {
  const { settings, statistics } = parts
  // Dynamic metadata repeats the request, which is not kept.
  const known = settings.addsDynamicMetadata ? undefined : new RequestCache()
  const longRequests = new LongRequests()

  function decide(request: RateLimitRequest, deadlineMs: number, decided: Decided): void {
    if (request.descriptors.length > longDescriptors) {
      const bytes = request.descriptors.length * assumedBytes
      longRequests.add(bytes, deadlineMs, decided, (then) => decideLong(request, deadlineMs, then))
      return
    }
    const rules = parts.rules()
    const refusal = findRefusal(request, rules)
    if (refusal !== undefined || rules === undefined) refuse(refusal, decided)
    else carryOut(request, toTallies(parts, rules, request), deadlineMs, decided)
  }

  function* decideLong(
    request: RateLimitRequest,
    deadlineMs: number,
    decided: Decided,
  ): Generator<void, void, void> {
    const rules = parts.rules()
    const refusal = findRefusal(request, rules)
    if (refusal !== undefined || rules === undefined) {
      refuse(refusal, decided)
      return
    }
    const tallies = yield* toTalliesInSlices(parts, rules, request, sliceLength)
    carryOut(request, tallies, deadlineMs, decided)
  }

  function decideEncoded(
    buffer: Buffer,
    start: number,
    end: number,
    deadlineMs: number,
    decided: Decided,
  ): void {
    if (end - start > longBytes) {
      // The bytes are the transport's, and belong to another request soon.
      const kept = Buffer.from(buffer.subarray(start, end))
      longRequests.add(kept.length, deadlineMs, decided, function* (then) {
        const request = decodeRequest(kept, 0, kept.length)
        yield
        yield* decideLong(request, deadlineMs, then)
      })
      return
    }
    const rules = parts.rules()
    if (known !== undefined && rules !== undefined) {
      const tallies = known.find(rules, buffer, start, end)
      if (tallies !== undefined) {
        carryOut(undefined, tallies, deadlineMs, decided)
        return
      }
    }
    const request = decodeRequest(buffer, start, end)
    const refusal = findRefusal(request, rules)
    if (refusal !== undefined || rules === undefined) {
      refuse(refusal, decided)
      return
    }
    const tallies = toTallies(parts, rules, request)
    known?.keep(request, tallies)
    carryOut(request, tallies, deadlineMs, decided)
  }

  function refuse(refusal: string | undefined, decided: Decided): void {
    statistics.serviceErrors.value += 1
    decided(new ServiceError(refusal), undefined)
  }

  function carryOut(
    request: RateLimitRequest | undefined,
    tallies: Tallies,
    deadlineMs: number,
    decided: Decided,
  ): void {
    const nowMs = parts.now()
    const nowSeconds = Math.floor(nowMs / 1000)
    const toCount = openTallies(parts, tallies, nowMs, nowSeconds)
    const decision = { request, nowSeconds, tallies }
    if (toCount.length === 0) {
      decided(undefined, toResponse(parts, decision))
      return
    }
    const counted = (error: StoreError | undefined) => {
      if (error === undefined) {
        decided(undefined, toResponse(parts, decision))
        return
      }
      const isOfRequest = error instanceof CounterKeyError
      const errors = isOfRequest ? statistics.serviceErrors : statistics.storeErrors
      errors.value += 1
      decided(error, undefined)
    }
    addTallies(parts, tallies, toCount, deadlineMs, counted)
  }

  return { decide, decideEncoded }
}

/** What a descriptor of a decoded request takes, about. */
const assumedBytes = 512

function findRefusal(request: RateLimitRequest, rules: Rules | undefined): string | undefined {
  if (request.domain === '') return 'rate limit domain must not be empty'
  if (request.descriptors.length === 0) return 'rate limit descriptor list must not be empty'
  if (rules === undefined) return 'no rate limit configuration loaded'
  return undefined
}
