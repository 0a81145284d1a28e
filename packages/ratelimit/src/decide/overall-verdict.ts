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
