import type { DecisionParts } from './decision.ts'
import type { Tally } from './tally.ts'

/**
 * From where on hits count as near the limit. In float32, as envoyproxy/ratelimit computes it:
 * with doubles 0.7 of 90 would be 62 and not 63.
 */
export function nearLimitFrom(requestsPerUnit: number, ratio: number): number {
  return Math.floor(Math.fround(Math.fround(requestsPerUnit) * Math.fround(ratio)))
}

/**
 * Whether the counted hits are over the limit, with the statistics that follow from it. A hit is
 * within, near or over by where it fell, so a call that straddles a border counts on both sides.
 */
export function judge(tally: Tally, nearLimitRatio: number, isShadowMode: boolean): boolean {
  const { counters, charge, after, requestsPerUnit: most } = tally
  // A refund was no hit: nothing is counted, but the caller learns how it stands.
  if (tally.isRefund) return after > most

  if (tally.isKnownOver) {
    counters.overLimit += charge
    counters.overLimitWithLocalCache += charge
    if (isShadowMode) counters.shadowMode += charge
    return true
  }

  const before = after - charge
  if (after > most) {
    // A sliding window has counted nothing of it, so that no hit of it was within or near.
    const over = before >= most || tally.isSliding ? charge : after - most
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

/** The overall code: any limit refuses, but those in quota mode only all together. */
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

  /** With QUOTA_MODE a descriptor without a rule counts as a quota that is not used up. */
  addPassedWithoutRule(): void {
    if (this.#isQuotaMode) this.#quotas += 1
  }

  get isRefusal(): boolean {
    return this.#isOver || (this.#quotas > 0 && this.#quotas === this.#quotasOver)
  }
}

/**
 * Judges what was counted and adds it to the verdict of its request. The local cache learns of a counter that is over.
 * @returns whether the limit is exceeded, also where it does not refuse.
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
    localCache.add(tally.key, tally.window, unitSeconds, requestsPerUnit, nowSeconds)
  }
  verdict.add(isOver && !isShadowRule, tally.isQuota)
  return isOver
}
