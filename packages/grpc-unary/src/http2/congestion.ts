import type { Socket } from 'node:net'

/**
 * Nothing more is read from a peer that does not read our output, because each request adds to it. Its unsent
 * bytes count towards the limit of the process.
 */
export class Congestion {
  isCongested = false
  sinceMs = 0
  /** The part of the socket's unsent bytes that the process has counted. */
  countedBytes = 0
  readonly #socket: Socket
  readonly #mostBytes: number
  readonly #count: (change: number) => void

  constructor(socket: Socket, mostUnsentBytes: number, count: (change: number) => void) {
    this.#socket = socket
    // Up to its high-water mark a socket does not emit 'drain'.
    this.#mostBytes = Math.max(mostUnsentBytes, socket.writableHighWaterMark)
    this.#count = count
  }

  /** Called after writing. */
  check(): void {
    const { writableLength, writableHighWaterMark } = this.#socket
    // Fewer bytes are not counted, because no event tells when they are sent.
    const isMuch = writableLength > writableHighWaterMark
    if (isMuch || this.countedBytes > 0) this.#set(isMuch ? writableLength : 0)
    if (this.isCongested || writableLength <= this.#mostBytes) return
    this.isCongested = true
    this.sinceMs = performance.now()
    this.#socket.pause()
  }

  /** Called when the socket has sent everything, or is closed. */
  end(): void {
    this.#set(0)
    this.isCongested = false
  }

  #set(bytes: number): void {
    if (bytes === this.countedBytes) return
    this.#count(bytes - this.countedBytes)
    this.countedBytes = bytes
  }
}
