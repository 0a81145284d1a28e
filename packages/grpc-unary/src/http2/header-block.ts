import { EMPTY } from '../bytes.ts'
import type { Limits } from '../limits.ts'

/** A header block that spans several frames (RFC 9113 4.3 and 6.10). */
export class HeaderBlock {
  isEndOfStream = false
  bytes: Buffer = EMPTY
  length = 0
  #frames = 0

  begin(bytes: Buffer, start: number, end: number, isEndOfStream: boolean): void {
    this.isEndOfStream = isEndOfStream
    this.length = 0
    this.#frames = 0
    this.#append(bytes, start, end)
  }

  /** Adds a fragment; returns the name of the limit if it is exceeded. */
  add(bytes: Buffer, start: number, end: number, limits: Limits): string | undefined {
    this.#frames++
    if (this.#frames > limits.continuationFrames) return 'continuationFrames'
    if (this.length + end - start > limits.headerBlockBytes) return 'headerBlockBytes'
    this.#append(bytes, start, end)
    return undefined
  }

  release(): void {
    this.bytes = EMPTY
    this.length = 0
  }

  #append(bytes: Buffer, start: number, end: number): void {
    const length = this.length + end - start
    if (length > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(length * 2)
      this.bytes.copy(larger, 0, 0, this.length)
      this.bytes = larger
    }
    bytes.copy(this.bytes, this.length, start, end)
    this.length = length
  }
}
