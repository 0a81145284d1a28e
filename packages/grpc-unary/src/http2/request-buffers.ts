/** The smallest buffer size; each size is twice the previous one. */
const FIRST_SIZE = 4096
const LAST_SIZE = 16 * 2 ** 20
/** A little more, so that a message of exactly such a size fits with its prefix of five bytes. */
const SLACK = 64

/** The maximum total size of idle buffers. */
const MAX_IDLE_BYTES = 16 * 2 ** 20

/**
 * Memory for requests that arrive in several pieces. Buffers are reused: otherwise, consecutive
 * calls of 4 MiB would allocate faster than the garbage collector frees, and each full collection
 * would delay all calls.
 */
export class RequestBuffers {
  /** Idle buffers by size. */
  readonly #idle = new Map<number, Buffer[]>()
  #idleBytes = 0

  /** A buffer of at least this length. */
  take(length: number): Buffer {
    let size = FIRST_SIZE
    while (size + SLACK < length && size < LAST_SIZE) size *= 2
    // The longest messages are rare, so their buffers are not kept.
    if (size + SLACK < length) return Buffer.allocUnsafeSlow(length)
    const buffer = this.#idle.get(size + SLACK)?.pop()
    if (buffer === undefined) return Buffer.allocUnsafeSlow(size + SLACK)
    this.#idleBytes -= buffer.length
    return buffer
  }

  give(buffer: Buffer): void {
    const { length } = buffer
    if (length === 0 || length > LAST_SIZE + SLACK) return
    if (this.#idleBytes + length > MAX_IDLE_BYTES) return
    this.#idleBytes += length
    const idle = this.#idle.get(length)
    if (idle === undefined) this.#idle.set(length, [buffer])
    else idle.push(buffer)
  }
}
