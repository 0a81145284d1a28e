import { CounterKeyError, type StoreError } from '../counters/counter-store.ts'
import type { RateLimitRequest } from '../protocol/message.ts'
import { addTallies, openTallies, sliceLength } from './count.ts'
import {
  type Decided,
  type Decision,
  type DecisionParts,
  type EncodedRequests,
  type Rules,
  type SampledRequest,
  ServiceError,
} from './decision.ts'
import { LongRequests, longBytes, longDescriptors, toRequestBytes } from './long-requests.ts'
import { toTallies, toTalliesInSlices } from './match.ts'
import { recordSample } from './record-sample.ts'
import { toResponse } from './respond.ts'
import type { Tallies } from './tally.ts'

/** Calls back once; before it returns if the store answers synchronously. */
export type Decide = (request: RateLimitRequest, deadlineMs: number, decided: Decided) => void

/**
 * Like `Decide`, for the encoded request between `start` and `end`. Throws a `DecodeError`, or calls back
 * with one if the request had to wait.
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

/**
 * There are two entry points:
 *
 *     decide(request) ──────────────────────────┐
 *     decideEncoded(bytes) ── known? ─ decode ───┴─ match ─┬─ count ─ respond
 *                               └──────────────────────────┘
 *
 * - match (match.ts) turns descriptors into tallies: the counter, the limit and the charge of each.
 * - count (count.ts) sets the windows and lets the store add the charges.
 * - respond (respond.ts) evaluates the counts and creates the response.
 *
 * gRPC uses `decideEncoded`, which skips decoding and matching if the same bytes were matched before under
 * the same rules: 790 instead of 1,690 ns for a decision with 10 rules (decision 009). JSON and the tools
 * use `decide`. Both return the same responses; a property test compares them.
 *
 * A long request takes the same steps in slices, and waits for earlier long requests.
 */
export function createDecisions(parts: DecisionParts, requests: EncodedRequests): Decider {
  const { statistics, traffic } = parts
  const longRequests = new LongRequests()

  function decide(request: RateLimitRequest, deadlineMs: number, decided: Decided): void {
    if (request.descriptors.length > longDescriptors) {
      const bytes = toRequestBytes(request)
      longRequests.add(bytes, deadlineMs, decided, (then) => decideLong(request, deadlineMs, then))
      return
    }
    const rules = admit(request, parts.rules(), decided)
    if (rules === undefined) return
    countAndRespond(request, toTallies(parts, rules, request), deadlineMs, decided)
  }

  function decideEncoded(
    buffer: Buffer,
    start: number,
    end: number,
    deadlineMs: number,
    decided: Decided,
  ): void {
    if (end - start > longBytes) {
      // The transport reuses the buffer for other requests.
      const kept = Buffer.from(buffer.subarray(start, end))
      longRequests.add(kept.length, deadlineMs, decided, function* (then) {
        const request = requests.decode(kept, 0, kept.length)
        yield
        yield* decideLong(request, deadlineMs, then)
      })
      return
    }
    const current = parts.rules()
    const known = current && requests.find(current, buffer, start, end)
    if (known !== undefined) {
      const nowMs = parts.now()
      const weight = traffic === undefined ? 0 : traffic.next(nowMs, known.length)
      // Decoded before the store answers, because the transport reuses the buffer for other requests.
      const sampled =
        weight === 0 ? undefined : { request: requests.decode(buffer, start, end), weight }
      countAndRespondAt(nowMs, undefined, known, sampled, deadlineMs, decided)
      return
    }
    const request = requests.decode(buffer, start, end)
    const rules = admit(request, current, decided)
    if (rules === undefined) return
    const tallies = toTallies(parts, rules, request)
    requests.keep(request, tallies)
    countAndRespond(request, tallies, deadlineMs, decided)
  }

  function* decideLong(
    request: RateLimitRequest,
    deadlineMs: number,
    decided: Decided,
  ): Generator<void, void, void> {
    const rules = admit(request, parts.rules(), decided)
    if (rules === undefined) return
    const tallies = yield* toTalliesInSlices(parts, rules, request, sliceLength)
    countAndRespond(request, tallies, deadlineMs, decided)
  }

  /** Returns the rules for the request, or undefined after it was answered with an error. */
  function admit(
    request: RateLimitRequest,
    rules: Rules | undefined,
    decided: Decided,
  ): Rules | undefined {
    const refusal = findRefusal(request, rules)
    if (refusal === undefined) return rules
    statistics.serviceErrors.value += 1
    decided(new ServiceError(refusal), undefined)
    return undefined
  }

  function countAndRespond(
    request: RateLimitRequest,
    tallies: Tallies,
    deadlineMs: number,
    decided: Decided,
  ): void {
    const nowMs = parts.now()
    const weight = traffic === undefined ? 0 : traffic.next(nowMs, tallies.length)
    const sampled = weight === 0 ? undefined : { request, weight }
    countAndRespondAt(nowMs, request, tallies, sampled, deadlineMs, decided)
  }

  /** @param request - undefined if only its tallies are known, which is then sufficient */
  function countAndRespondAt(
    nowMs: number,
    request: RateLimitRequest | undefined,
    tallies: Tallies,
    sampled: SampledRequest | undefined,
    deadlineMs: number,
    decided: Decided,
  ): void {
    const nowSeconds = Math.floor(nowMs / 1000)
    const toCount = openTallies(parts, tallies, nowMs, nowSeconds)
    const decision = { request, nowSeconds, tallies, sampled }
    if (toCount.length === 0) {
      respond(decision, decided)
      return
    }
    const counted = (error: StoreError | undefined) => {
      if (error === undefined) {
        respond(decision, decided)
        return
      }
      const isOfRequest = error instanceof CounterKeyError
      const errors = isOfRequest ? statistics.serviceErrors : statistics.storeErrors
      errors.value += 1
      decided(error, undefined)
    }
    addTallies(parts, tallies, toCount, deadlineMs, counted)
  }

  function respond(decision: Decision, decided: Decided): void {
    decided(undefined, toResponse(parts, decision))
    const { sampled, tallies, nowSeconds } = decision
    if (traffic !== undefined && sampled !== undefined) {
      recordSample(traffic, sampled, tallies, nowSeconds * 1000)
    }
    // Not after a failure: a late reply may still need the names of the counters.
    if (decision.request === undefined) requests.release(decision.tallies)
  }

  return { decide, decideEncoded }
}

function findRefusal(request: RateLimitRequest, rules: Rules | undefined): string | undefined {
  if (request.domain === '') return 'rate limit domain must not be empty'
  if (request.descriptors.length === 0) return 'rate limit descriptor list must not be empty'
  if (rules === undefined) return 'no rate limit configuration loaded'
  return undefined
}
