import type { DecisionParts } from './decision.ts'
import type { Tally } from './tally.ts'
import { judge } from './verdict.ts'

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
