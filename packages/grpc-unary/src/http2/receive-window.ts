/**
 * How much the peer may still send on the connection (RFC 9113 6.9). It is credited back in large
 * steps, long before it is used up, since other limits bound the memory.
 */
export class ReceiveWindow {
  readonly size: number
  #left: number

  constructor(size: number) {
    this.size = size
    this.#left = size
  }

  /** Returns false if the peer sent more than allowed. */
  take(length: number): boolean {
    this.#left -= length
    return this.#left >= 0
  }

  /** How much to credit now; usually 0. */
  credit(): number {
    if (this.#left > this.size >> 1) return 0
    const credit = this.size - this.#left
    this.#left = this.size
    return credit
  }
}
