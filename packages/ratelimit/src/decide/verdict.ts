import { keyOf } from '../counters/counter-store.ts'
import type { DecisionParts } from './decision.ts'
import type { Tally } from './tally.ts'

/**
 * The count above which hits are near the limit. It is computed in float32, as in envoyproxy/ratelimit: with
 * doubles, 0.7 of 90 would be 62 instead of 63.
 */
export function nearLimitFrom(requestsPerUnit: number, ratio: number): number {
  return Math.floor(Math.fround(Math.fround(requestsPerUnit) * Math.fround(ratio)))
}

/** The hits of a tally that are over its limit, after the store has counted them. */
export function hitsOver(tally: Tally): number {
  const { charge, after, requestsPerUnit: most } = tally
  if (tally.isKnownOver) return charge
  if (after <= most) return 0
  // A sliding window did not count any of these hits, so none was within or near the limit.
  return after - charge >= most || tally.isSliding ? charge : after - most
}

/**
 * Returns whether the counted hits are over the limit, and updates the statistics. Each hit is counted as
 * within, near or over the limit, so a call that crosses a threshold counts on both sides.
 */
export function judge(tally: Tally, nearLimitRatio: number, isShadowMode: boolean): boolean {
  const { counters, charge, after, requestsPerUnit: most } = tally
  // A refund is not a hit: the statistics do not change, but the response has the current state.
  if (tally.isRefund) return after > most

  if (tally.isKnownOver) {
    counters.overLimit += charge
    counters.overLimitWithLocalCache += charge
    if (isShadowMode) counters.shadowMode += charge
    return true
  }

  const before = after - charge
  if (after > most) {
    const over = hitsOver(tally)
    counters.overLimit += over
    if (isShadowMode) counters.shadowMode += over
    if (over < charge) {
      counters.nearLimit += most - Math.max(nearLimitFrom(most, nearLimitRatio), before)
    }
    return true
  }

  counters.withinLimit += charge
  const near = nearLimitFrom(most, nearLimitRatio)
  if (after > near) counters.nearLimit += before >= near ? charge : after - near
  return false
}

/**
 * The overall code: any limit can refuse the request, except that limits in quota mode refuse only all
 * together.
 */
export class OverallVerdict {
  readonly #isQuotaMode: boolean
  #isOver = false
  #quotas = 0
  #quotasOver = 0

  constructor(isQuotaMode: boolean) {
    this.#isQuotaMode = isQuotaMode
  }

  add(isOver: boolean, isQuotaRule: boolean): void {
    if (isQuotaRule) {
      this.#quotas += 1
      if (isOver) this.#quotasOver += 1
    } else if (isOver) {
      this.#isOver = true
    }
  }

  /** With QUOTA_MODE, a descriptor without a rule counts as a quota that is not exhausted. */
  addPassedWithoutRule(): void {
    if (this.#isQuotaMode) this.#quotas += 1
  }

  get isRefusal(): boolean {
    return this.#isOver || (this.#quotas > 0 && this.#quotas === this.#quotasOver)
  }
}

/**
 * Evaluates a count and adds it to the verdict of its request. A counter that is over its limit is added to the local cache.
 * @returns whether the limit is exceeded, even if it does not refuse the request
 */
export function judgeInto(
  verdict: OverallVerdict,
  { settings, localCache }: DecisionParts,
  tally: Tally,
  nowSeconds: number,
): boolean {
  const { unitSeconds, requestsPerUnit, isShadowRule } = tally
  const isOver = judge(tally, settings.nearLimitRatio, isShadowRule || settings.isShadowMode)
  if (isOver && !tally.isKnownOver && !tally.isSliding && localCache !== undefined) {
    localCache.add(keyOf(tally), tally.window, unitSeconds, requestsPerUnit, nowSeconds)
  }
  verdict.add(isOver && !isShadowRule, tally.isQuota)
  return isOver
}
