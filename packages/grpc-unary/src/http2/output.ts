import type { Socket } from 'node:net'
import { copyBytes, EMPTY } from '../bytes.ts'

const SLAB_SIZE = 32_768

/** A slab with less room than this is replaced. */
const SMALL_REST = 2048

/** How many idle slabs are kept: 2 MiB. */
const MAX_IDLE_SLABS = 64

/** Output memory that connections share. */
export class SlabPool {
  readonly #idle: Buffer[] = []

  take(): Buffer {
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(SLAB_SIZE)
  }

  give(slab: Buffer): void {
    if (slab.length === SLAB_SIZE && this.#idle.length < MAX_IDLE_SLABS) this.#idle.push(slab)
  }
}

/**
 * Collects the output of a connection, and passes it to the socket in one write. Writers reserve
 * room, write their bytes to `bytes` from there, and advance `length`.
 */
export class Output {
  bytes: Buffer = EMPTY
  /** The offset of the next byte. */
  length = 0
  /** The bytes before this offset were already passed to the socket. */
  #start = 0
  readonly #socket: Socket
  readonly #pool: SlabPool
  /** Called after a flush that was caused by lack of room. */
  readonly #flushed: () => void

  constructor(socket: Socket, pool: SlabPool, flushed: () => void) {
    this.#socket = socket
    this.#pool = pool
    this.#flushed = flushed
  }

  get hasPending(): boolean {
    return this.length > this.#start
  }

  /** Makes room and returns its offset, which is valid until the next call. */
  reserve(size: number): number {
    if (this.length + size > this.bytes.length) this.#replaceSlab(size)
    return this.length
  }

  append(frame: Uint8Array): void {
    const at = this.reserve(frame.length)
    copyBytes(this.bytes, at, frame, 0, frame.length)
    this.length = at + frame.length
  }

  flush(): void {
    if (this.length === this.#start) return
    this.#socket.write(this.bytes.subarray(this.#start, this.length))
    // If nothing is left to write, the kernel has its copy and the memory can be reused. Otherwise
    // the bytes belong to the socket until they are sent, and new bytes are written after them.
    if (this.#socket.writableLength === 0) {
      this.#start = 0
      this.length = 0
      this.#pool.give(this.bytes)
      this.bytes = EMPTY
    } else {
      this.#start = this.length
      if (this.bytes.length - this.length < SMALL_REST) this.#drop()
    }
  }

  /** Releases memory that the socket no longer needs. Called regularly. */
  trim(): void {
    if (this.bytes.length === 0 || this.hasPending || this.#socket.writableLength > 0) return
    this.#pool.give(this.bytes)
    this.#drop()
  }

  #replaceSlab(size: number): void {
    this.flush()
    this.#flushed()
    if (this.length + size <= this.bytes.length) return
    this.#drop()
    this.bytes = size > SLAB_SIZE ? Buffer.allocUnsafeSlow(size) : this.#pool.take()
  }

  #drop(): void {
    this.bytes = EMPTY
    this.length = 0
    this.#start = 0
  }
}
