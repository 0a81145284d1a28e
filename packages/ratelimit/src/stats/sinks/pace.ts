import { setImmediate } from 'node:timers/promises'

/** Decisions wait no longer than this for statistics. */
const sliceMs = 1

/** Cuts long work into slices, between which the event loop turns. */
export class Pace {
  #sliceEnd = 0

  /** Undefined, not a promise, while the slice lasts: waiting costs something too. */
  step(): Promise<void> | undefined {
    return performance.now() < this.#sliceEnd ? undefined : this.#turn()
  }

  async #turn(): Promise<void> {
    await setImmediate()
    this.#sliceEnd = performance.now() + sliceMs
  }
}
