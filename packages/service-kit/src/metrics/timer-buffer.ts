const initialCapacity = 512

/** That many durations take about 4 MiB as lines of statsd, which is also the limit of an output's queue. */
const maxCapacity = 1 << 16

/**
 * Keeps the durations of one timer until they are sent. Adding one is a store into an array. When the buffer is
 * full, new durations are dropped.
 */
export class TimerBuffer {
  readonly name: string
  readonly #onFirst: () => void
  #values = new Float64Array(initialCapacity)
  #length = 0

  /** @param onFirst is called when a duration is added to an empty buffer. */
  constructor(name: string, onFirst: () => void) {
    this.name = name
    this.#onFirst = onFirst
  }

  readonly add = (durationMs: number): void => {
    if (this.#length === this.#values.length && !this.#grow()) return
    this.#values[this.#length++] = durationMs
    if (this.#length === 1) this.#onFirst()
  }

  /** Empties the buffer. */
  take(): Float64Array {
    const taken = this.#values.subarray(0, this.#length)
    this.#values = new Float64Array(Math.min(maxCapacity, Math.max(initialCapacity, this.#length)))
    this.#length = 0
    return taken
  }

  #grow(): boolean {
    if (this.#length === maxCapacity) return false
    const grown = new Float64Array(this.#length * 2)
    grown.set(this.#values)
    this.#values = grown
    return true
  }
}
