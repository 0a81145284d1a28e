import { byteAt, EMPTY } from '../bytes.ts'
import type { Limits } from '../limits.ts'
import type { RequestHead } from './request-head.ts'
import type { Route } from './stream.ts'

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

/** Clients alternate between a few blocks: one per method and value of the deadline. */
const PLACES = 8

/** Longer blocks cost more to compare than the cache saves. */
const MAX_BLOCK = 512

class KnownBlock {
  readonly head: RequestHead
  readonly route: Route
  readonly bytes: Buffer
  /**
   * The generation of the dynamic table: in another generation, the same bytes can decode to other
   * fields.
   */
  readonly generation: number

  constructor(head: RequestHead, route: Route, bytes: Buffer, generation: number) {
    this.head = head
    this.route = route
    this.bytes = bytes
    this.generation = generation
  }
}

/**
 * A cache of decoded header blocks, by their bytes. Once its dynamic table is filled, a client
 * sends the same few bytes for every call.
 */
export class HeadCache {
  readonly #blocks: (KnownBlock | undefined)[] = new Array<undefined>(PLACES).fill(undefined)
  #last: KnownBlock | undefined
  #next = 0

  find(bytes: Buffer, start: number, end: number, generation: number): KnownBlock | undefined {
    const last = this.#last
    if (last !== undefined && isSame(last, bytes, start, end, generation)) return last
    for (const block of this.#blocks) {
      if (block !== undefined && isSame(block, bytes, start, end, generation)) {
        this.#last = block
        return block
      }
    }
    return undefined
  }

  /** Must only be called for a block that did not change the dynamic table. */
  add(
    head: RequestHead,
    route: Route,
    bytes: Buffer,
    start: number,
    end: number,
    generation: number,
  ): void {
    if (end - start > MAX_BLOCK) return
    const copy = Buffer.from(bytes.subarray(start, end))
    this.#last = new KnownBlock(head, route, copy, generation)
    this.#blocks[this.#next] = this.#last
    this.#next = (this.#next + 1) % PLACES
  }
}

function isSame(
  block: KnownBlock,
  bytes: Buffer,
  start: number,
  end: number,
  generation: number,
): boolean {
  const known = block.bytes
  const length = known.length
  if (block.generation !== generation || length !== end - start) return false
  // Compares from the end, because blocks of one client tend to differ in their last bytes.
  for (let i = length - 1; i >= 0; i--) {
    if (byteAt(known, i) !== byteAt(bytes, start + i)) return false
  }
  return true
}
