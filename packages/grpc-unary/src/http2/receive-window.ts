/**
 * What the peer may still send on the connection (RFC 9113 6.9). It is credited back in big steps,
 * long before it runs out: memory is bounded by other limits.
 */
export class ReceiveWindow {
  readonly size: number
  #left: number

  constructor(size: number) {
    this.size = size
    this.#left = size
  }

  /** False when the peer sent more than it may. */
  take(length: number): boolean {
    this.#left -= length
    return this.#left >= 0
  }

  /** How much to credit now; mostly nothing. */
  credit(): number {
    if (this.#left > this.size >> 1) return 0
    const credit = this.size - this.#left
    this.#left = this.size
    return credit
  }
}
