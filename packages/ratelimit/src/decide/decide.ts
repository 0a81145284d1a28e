import type { StoreError } from '../counters/counter-store.ts'
import type { Descriptor, RateLimitRequest, RateLimitResponse } from '../protocol/message.ts'
import type { Match } from '../rules/rule.ts'
import type { Decision, DecisionParts, Rules } from './decision.ts'
import { findReplaced } from './replaces.ts'
import { toResponse } from './respond.ts'
import { spareOthers } from './stop-increment.ts'
import { Tally } from './tally.ts'
import { toCounterKey, windowStart } from './windows.ts'

/** The request makes no sense, or there is nothing to judge it by. The message is for the caller. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
}

export type Decided = (
  error: ServiceError | StoreError | undefined,
  response: RateLimitResponse | undefined,
) => void

/** Calls back once, before it returns where the store answers at once. */
export type Decide = (request: RateLimitRequest, deadlineMs: number, decided: Decided) => void

export function createDecide(parts: DecisionParts): Decide {
  const { settings, statistics, localCache, store } = parts

  return (request, deadlineMs, decided) => {
    const rules = parts.rules()
    const refusal = findRefusal(request, rules)
    if (refusal !== undefined || rules === undefined) {
      statistics.serviceErrors.value += 1
      decided(new ServiceError(refusal), undefined)
      return
    }

    const nowSeconds = Math.floor(parts.now() / 1000)
    const { descriptors, domain } = request
    const matches: (Match | undefined)[] = []
    if (rules.hasDomain(domain)) {
      for (const descriptor of descriptors) matches.push(rules.match(domain, descriptor))
    } else {
      for (const _ of descriptors) matches.push(undefined)
      statistics.unknownDomain(domain).value += descriptors.length
    }

    const decision: Decision = { request, nowSeconds, matches, tallies: [] }
    const toCount = openTallies(decision)
    if (toCount.length === 0) {
      decided(undefined, toResponse(parts, decision))
      return
    }
    const counted = (error: StoreError | undefined) => {
      if (error === undefined) {
        decided(undefined, toResponse(parts, decision))
        return
      }
      statistics.storeErrors.value += 1
      decided(error, undefined)
    }
    if (settings.stopsIncrementWhenOver) {
      spareOthers({ store, decision, toCount, deadlineMs, counted })
    } else {
      store.add(toCount, deadlineMs, counted)
    }
  }

  /** Fills the decision's tallies, and returns those the store must be asked about. */
  function openTallies({ request, nowSeconds, matches, tallies }: Decision): Tally[] {
    const toCount: Tally[] = []
    const { descriptors, domain } = request
    const replaced = findReplaced(matches)
    for (let i = 0; i < descriptors.length; i += 1) {
      const descriptor = descriptors[i]
      const match = matches[i]
      let tally: Tally | undefined
      if (match !== undefined && descriptor !== undefined) {
        if (replaced?.has(match)) matches[i] = undefined
        else tally = openTally(request, domain, descriptor, match, nowSeconds)
      }
      tallies.push(tally)
      if (tally !== undefined && !tally.isKnownOver) toCount.push(tally)
    }
    return toCount
  }

  function openTally(
    request: RateLimitRequest,
    domain: string,
    descriptor: Descriptor,
    match: Match,
    nowSeconds: number,
  ): Tally | undefined {
    const { limit, counters } = match
    const isRefund = descriptor.isNegativeHits
    const charge = descriptor.hitsAddend ?? Math.max(1, request.hitsAddend)
    if (!isRefund) counters.totalHits += charge
    const { unit } = limit
    if (unit === undefined) {
      if (!isRefund) counters.withinLimit += charge
      return undefined
    }
    const window = windowStart(nowSeconds, unit.seconds)
    const key = toCounterKey(settings.cacheKeyPrefix, domain, descriptor, match.sharedValues)
    const isQuota = limit.quotaMode || settings.isQuotaMode
    const tally = new Tally(match, unit, key, window, charge, isRefund, isQuota)
    if (localCache !== undefined) {
      // A refund may bring the counter back below the limit, so what was known no longer holds.
      if (isRefund) localCache.delete(key, window)
      else tally.isKnownOver = localCache.isOver(key, window, limit.requestsPerUnit, nowSeconds)
    }
    return tally
  }
}

function findRefusal(request: RateLimitRequest, rules: Rules | undefined): string | undefined {
  if (request.domain === '') return 'rate limit domain must not be empty'
  if (request.descriptors.length === 0) return 'rate limit descriptor list must not be empty'
  if (rules === undefined) return 'no rate limit configuration loaded'
  return undefined
}
