import { copyBytes } from '../bytes.ts'
import {
  DEFAULT_WINDOW,
  errorCode,
  FRAME_HEADER_SIZE,
  frameType,
  MAX_FRAME_SIZE,
  MAX_WINDOW,
  putFrameHeader,
} from './frames.ts'
import { QueuedData, type Stream, type StreamConnection, type StreamSendFlow } from './stream.ts'

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

/** The sending side of flow control (RFC 9113 5.2 and 6.9): how much the peer allows us to send. */
export class SendFlow implements StreamSendFlow {
  window = DEFAULT_WINDOW
  initialWindow = DEFAULT_WINDOW
  /** The initial window after the SETTINGS frame that is being read. */
  nextInitialWindow = DEFAULT_WINDOW
  /** Since when responses are held back without progress; Infinity if there are none. */
  stalledSinceMs = Number.POSITIVE_INFINITY
  /** Bytes of responses that the peer's windows, or its socket, hold back. */
  heldBytes = 0
  readonly #connection: StreamConnection
  readonly #waiting = new Set<Stream>()

  constructor(connection: StreamConnection) {
    this.#connection = connection
  }

  tryPass(stream: Stream, size: number): boolean {
    if (
      size > this.window ||
      size > stream.sendWindow ||
      size > MAX_FRAME_SIZE ||
      stream.heldBack !== undefined ||
      this.#connection.isCongested
    ) {
      return false
    }
    this.window -= size
    stream.sendWindow -= size
    return true
  }

  send(stream: Stream, chunk: Buffer): void {
    stream.heldBack ??= new QueuedData()
    const held = stream.heldBack
    held.chunks.push(chunk)
    held.bytes += chunk.length
    this.#countHeld(chunk.length)
    this.#release(stream, held)
    if (this.heldBytes > this.#connection.hub.limits.heldBackBytes) {
      this.#connection.resetStream(stream.id, errorCode.ENHANCE_YOUR_CALM)
    }
  }

  whenSent(stream: Stream, finish: () => void): void {
    if (stream.isLocalClosed) return
    if (stream.heldBack === undefined) finish()
    else stream.heldBack.finish = finish
  }

  /** Called after a window was opened, or the socket drained. */
  releaseAll(): void {
    for (const stream of this.#waiting) {
      if (this.window <= 0 || this.#connection.isCongested) return
      this.release(stream)
    }
  }

  /** Called after the window of one stream was opened. */
  release(stream: Stream): void {
    if (stream.heldBack !== undefined) this.#release(stream, stream.heldBack)
  }

  /** Drops what a closed stream still holds back. */
  forget(stream: Stream): void {
    const held = stream.heldBack
    if (held === undefined) return
    this.#countHeld(-held.bytes)
    stream.heldBack = undefined
    this.#stopWaiting(stream)
  }

  /** Returns false if the window would exceed the maximum of RFC 9113 6.9.1. */
  widen(increment: number): boolean {
    if (this.window + increment > MAX_WINDOW) return false
    this.window += increment
    return true
  }

  /** RFC 9113 6.9.2: a new initial window also changes the windows of open streams. */
  takeInitialWindow(streams: Iterable<Stream>): boolean {
    const change = this.nextInitialWindow - this.initialWindow
    if (change === 0) return true
    this.initialWindow = this.nextInitialWindow
    for (const stream of streams) {
      if (stream.sendWindow + change > MAX_WINDOW) return false
      stream.sendWindow += change
    }
    return true
  }

  #release(stream: Stream, held: QueuedData): void {
    for (;;) {
      const chunk = held.chunks[0]
      if (chunk === undefined) break
      const room = Math.min(this.window, stream.sendWindow, MAX_FRAME_SIZE)
      const size = Math.min(room, chunk.length - held.offset)
      if (size <= 0 || this.#connection.isCongested) {
        this.#wait(stream)
        return
      }
      this.#putData(stream, chunk, held.offset, held.offset + size)
      this.stalledSinceMs = this.#connection.hub.nowMs
      held.offset += size
      held.bytes -= size
      this.#countHeld(-size)
      if (held.offset === chunk.length) {
        held.chunks.shift()
        held.offset = 0
      }
    }
    stream.heldBack = undefined
    this.#stopWaiting(stream)
    held.finish?.()
  }

  #putData(stream: Stream, chunk: Buffer, start: number, end: number): void {
    const size = end - start
    this.window -= size
    stream.sendWindow -= size
    this.#connection.meter.sentBytes += size
    const output = this.#connection.output
    const at = output.reserve(FRAME_HEADER_SIZE + size)
    const payload = putFrameHeader(output.bytes, at, size, frameType.DATA, 0, stream.id)
    copyBytes(output.bytes, payload, chunk, start, end)
    output.length = payload + size
    this.#connection.touch()
  }

  #countHeld(change: number): void {
    this.heldBytes += change
    this.#connection.hub.countUnsent(change)
  }

  #wait(stream: Stream): void {
    if (this.#waiting.size === 0) this.stalledSinceMs = this.#connection.hub.nowMs
    this.#waiting.add(stream)
  }

  #stopWaiting(stream: Stream): void {
    this.#waiting.delete(stream)
    if (this.#waiting.size === 0) this.stalledSinceMs = Number.POSITIVE_INFINITY
  }
}
