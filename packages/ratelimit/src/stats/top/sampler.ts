/**
 * The number of descriptors per second up to which every request is part of the sample. A descriptor of the sample
 * costs 1 to 2 µs (decision 031), so this is less than 1 % of a core.
 */
const descriptorsPerSecond = 2_000

const secondMs = 1_000

/**
 * Limits the cost of counting keys at any load: it chooses all requests while there are few of them, and otherwise one
 * of `interval` requests on average, at random. The caller multiplies the hits of a chosen request by that number.
 */
export class Sampler {
  #interval = 1
  /** The number of requests until the next one of the sample. */
  #skip = 1
  #secondStartMs = 0
  /** The number of descriptors in this second: those of the sample, and an estimate of all. */
  #sampled = 0
  #seen = 0
  #estimatesUntilMs = 0

  /**
   * Hot path.
   * @returns how many requests this one stands for; 0 if it is not part of the sample
   */
  next(nowMs: number, descriptors: number): number {
    const ageMs = nowMs - this.#secondStartMs
    // The clock may be set back.
    if (ageMs >= secondMs || ageMs < 0) this.#startSecond(nowMs, ageMs)
    this.#skip -= 1
    return this.#skip > 0 ? 0 : this.#take(descriptors)
  }

  /** Whether some requests in the last `pastMs` were not chosen, so that the numbers are estimates. */
  hasEstimated(nowMs: number, pastMs: number): boolean {
    return this.#interval > 1 || nowMs - this.#estimatesUntilMs < pastMs
  }

  #take(descriptors: number): number {
    const weight = this.#interval
    this.#sampled += descriptors
    this.#seen += descriptors * weight
    if (this.#sampled >= descriptorsPerSecond) {
      // More load than in the last second.
      this.#interval *= 2
      this.#sampled = 0
    }
    this.#draw()
    return weight
  }

  #startSecond(nowMs: number, ageMs: number): void {
    if (this.#interval > 1) this.#estimatesUntilMs = nowMs
    // After a pause, the rate before it says nothing about the current rate.
    const isRecent = ageMs > 0 && ageMs < 2 * secondMs
    const seenPerSecond = isRecent ? (this.#seen * secondMs) / ageMs : 0
    const needed = Math.ceil(seenPerSecond / descriptorsPerSecond)
    // The interval is at most halved for each second, because otherwise each burst would begin with too many samples.
    const kept = ageMs > 0 ? Math.floor(this.#interval / 2 ** Math.floor(ageMs / secondMs)) : 1
    this.#interval = Math.max(1, needed, kept)
    this.#secondStartMs = nowMs
    this.#sampled = 0
    this.#seen = 0
    this.#draw()
  }

  /** The distance is random, because taking every second request would miss a client whose requests alternate with others. */
  #draw(): void {
    const longest = 2 * this.#interval - 1
    this.#skip = longest === 1 ? 1 : 1 + Math.floor(Math.random() * longest)
  }
}
