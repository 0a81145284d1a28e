/**
 * A seeded random number generator: every input of a fuzzer can be reproduced from the seed and its
 * number.
 */
export class Random {
  #state = 0

  constructor(seed: number, index = 0) {
    this.restart(seed, index)
  }

  restart(seed: number, index: number): void {
    this.#state = mix(mix(seed >>> 0) ^ (index >>> 0) ^ Math.imul(Math.floor(index / 2 ** 32), 77))
  }

  /** A random 32-bit number. */
  bits(): number {
    this.#state = (this.#state + 0x9e_37_79_b9) | 0
    return mix(this.#state)
  }

  /** A random number from 0 to `limit` - 1. */
  below(limit: number): number {
    return (this.bits() >>> 0) % limit
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** True once in `times` calls on average. */
  oneIn(times: number): boolean {
    return this.below(times) === 0
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0]
  }

  fill(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) bytes[at] = this.bits()
  }
}

/** Mixes the bits of a 32-bit number. */
function mix(value: number): number {
  let bits = value | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x21_f0_aa_ad)
  bits = Math.imul(bits ^ (bits >>> 15), 0x73_5a_2d_97)
  return bits ^ (bits >>> 15)
}
