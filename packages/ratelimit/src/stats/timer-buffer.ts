const fewest = 512

/** As lines of statsd about 4 MiB, which is what may wait for a sink (reference 7.2). */
const most = 1 << 16

/**
 * The durations of one timer until they are sent. To keep one costs a call no more than a store
 * into an array; when nobody takes them away, new ones are dropped.
 */
export class TimerBuffer {
  readonly name: string
  readonly #isFirst: () => void
  #values = new Float64Array(fewest)
  #length = 0

  /** @param isFirst is called when there is something to take. */
  constructor(name: string, isFirst: () => void) {
    this.name = name
    this.#isFirst = isFirst
  }

  readonly add = (durationMs: number): void => {
    if (this.#length === this.#values.length && !this.#grow()) return
    this.#values[this.#length++] = durationMs
    if (this.#length === 1) this.#isFirst()
  }

  /** What was added since the last time. */
  take(): Float64Array {
    const taken = this.#values.subarray(0, this.#length)
    this.#values = new Float64Array(Math.min(most, Math.max(fewest, this.#length)))
    this.#length = 0
    return taken
  }

  #grow(): boolean {
    if (this.#length === most) return false
    const grown = new Float64Array(this.#length * 2)
    grown.set(this.#values)
    this.#values = grown
    return true
  }
}
