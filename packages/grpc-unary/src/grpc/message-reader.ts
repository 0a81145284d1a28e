import { byteAt, EMPTY, uint32At } from '../bytes.ts'
import { errorCode } from '../http2/frames.ts'
import type { RequestBuffers } from '../http2/request-buffers.ts'
import type { Stream } from '../http2/stream.ts'
import { type StatusCode, status } from '../status.ts'
import { PREFIX_SIZE } from './answer.ts'
import {
  type Decompressed,
  decompressLater,
  decompressNow,
  IMMEDIATE_BYTES,
} from './decompression.ts'

/**
 * What a message that is much longer than its declared length is charged in addition. Such a message is
 * never sent by accident.
 */
const WRONG_LENGTH_BYTES = 2 ** 20

/** The number of bytes after which the sink first gets the beginning of a message: about one frame. */
const FIRST_BEGINNING = 16_000

export const TOO_MANY_UNFINISHED = 'too many unfinished messages on a connection'

/** Receives the messages of a request. */
export interface MessageSink {
  /**
   * The received part of a long message that is not compressed. It is called again each time that four times as
   * many bytes have arrived.
   */
  beginning?(bytes: Buffer, start: number, end: number): void
  /**
   * A whole message; the bytes are valid only until the method returns. `rest` bytes of the frame
   * follow.
   */
  message(bytes: Buffer, start: number, end: number, rest: number): void
  /** A long compressed message has arrived; called if the sink can wait for it. */
  decompressing?(): void
  /** The decompressed message. */
  decompressed?(bytes: Buffer): void
  refuse(code: StatusCode, text: string): void
}

/** Finds the messages in the bytes of a request, however they are split into frames. */
export class MessageReader {
  readonly #stream: Stream
  readonly #sink: MessageSink
  /**
   * The beginning of a message with its prefix. It grows with the received bytes, not with the
   * declared length.
   */
  #bytes: Buffer = EMPTY
  #filled = 0
  #nextBeginning = FIRST_BEGINNING

  constructor(stream: Stream, sink: MessageSink) {
    this.#stream = stream
    this.#sink = sink
  }

  /** True between the first and the last byte of a message. */
  get isInside(): boolean {
    return this.#filled > 0
  }

  read(bytes: Buffer, start: number, end: number): void {
    let at = start
    while (at < end && this.#stream.isOpen) {
      at = this.#filled === 0 ? this.#readInPlace(bytes, at, end) : this.#fill(bytes, at, end)
    }
  }

  /** Passes on a message that lies in one frame without copying it. */
  #readInPlace(bytes: Buffer, at: number, end: number): number {
    if (end - at >= PREFIX_SIZE) {
      const size = this.#checkedSize(bytes, at)
      if (size < 0) return end
      if (at + size <= end) {
        this.#deliver(bytes, at, at + size, end - at - size)
        return at + size
      }
      return this.#append(bytes, at, end, size)
    }
    return this.#append(bytes, at, end)
  }

  #fill(bytes: Buffer, start: number, end: number): number {
    let at = start
    if (this.#filled < PREFIX_SIZE) {
      at = this.#append(bytes, at, Math.min(end, at + PREFIX_SIZE - this.#filled))
      if (this.#filled < PREFIX_SIZE) return at
    }
    const size = this.#checkedSize(this.#bytes, 0)
    if (size < 0) return end
    at = this.#append(bytes, at, Math.min(end, at + size - this.#filled), size)
    if (this.#filled === size) {
      const message = this.#bytes
      this.#stream.connection.release(this.#stream, message.length)
      this.#bytes = EMPTY
      this.#filled = 0
      this.#deliver(message, 0, size, end - at)
      this.#buffers.give(message)
    }
    return at
  }

  /** The size of prefix and message together, or -1 if the message is refused. */
  #checkedSize(bytes: Buffer, at: number): number {
    const compression = byteAt(bytes, at)
    const length = uint32At(bytes, at + 1)
    const limit = this.#stream.connection.hub.limits.messageBytes
    if (compression !== 0 && !this.#takesCompression(compression)) return -1
    if (length > limit) {
      const text = `grpc: received message larger than max (${length} vs. ${limit})`
      this.#sink.refuse(status.RESOURCE_EXHAUSTED, text)
      return -1
    }
    return PREFIX_SIZE + length
  }

  /** Prefix and message lie between `start` and `end`. */
  #deliver(bytes: Buffer, start: number, end: number, rest: number): void {
    if (byteAt(bytes, start) === 0) this.#sink.message(bytes, start + PREFIX_SIZE, end, rest)
    else this.#decompress(bytes.subarray(start + PREFIX_SIZE, end), rest)
  }

  /**
   * The cost of decompression is charged in advance, by the length that a gzip file declares. A
   * message that is longer than declared is charged an additional penalty.
   */
  #decompress(compressed: Buffer, rest: number): void {
    const { messageBytes } = this.#stream.connection.hub.limits
    const claimed = readClaimedLength(compressed)
    if (this.#isBomb(compressed.length, Math.min(claimed, messageBytes))) return
    if (claimed > messageBytes) {
      this.#take('too large', messageBytes, rest)
      return
    }
    const canWait = this.#sink.decompressing !== undefined
    if (claimed <= IMMEDIATE_BYTES || !canWait) {
      const mostNow = Math.min(messageBytes, IMMEDIATE_BYTES)
      const now = decompressNow(compressed, mostNow)
      if (now !== 'too large') {
        this.#take(now, mostNow, rest)
        return
      }
      if (this.#isBomb(0, WRONG_LENGTH_BYTES)) return
      if (!canWait || messageBytes <= IMMEDIATE_BYTES) {
        this.#take(now, mostNow, rest)
        return
      }
    }
    this.#sink.decompressing?.()
    if (this.#stream.isOpen) this.#decompressLater(Buffer.from(compressed), claimed, messageBytes)
  }

  #decompressLater(compressed: Buffer, claimed: number, mostBytes: number): void {
    const stream = this.#stream
    const { connection } = stream
    if (!connection.hold(stream, compressed.length)) {
      this.#sink.refuse(status.RESOURCE_EXHAUSTED, TOO_MANY_UNFINISHED)
      return
    }
    const isWanted = (): boolean => stream.isOpen
    decompressLater(compressed, mostBytes, isWanted, (result) => {
      if (!stream.isOpen) return
      connection.release(stream, compressed.length)
      connection.hub.nowMs = performance.now()
      const length = Buffer.isBuffer(result)
        ? result.length
        : result === 'too large'
          ? mostBytes
          : 0
      if (length > claimed && this.#isBomb(0, length - claimed)) return
      if (Buffer.isBuffer(result)) this.#sink.decompressed?.(result)
      else this.#take(result, mostBytes, 0)
    })
  }

  #take(result: Decompressed, mostBytes: number, rest: number): void {
    const sink = this.#sink
    if (Buffer.isBuffer(result)) {
      sink.message(result, 0, result.length, rest)
    } else if (result === 'too large') {
      const text = `grpc: received message after decompression larger than max (${mostBytes})`
      sink.refuse(status.RESOURCE_EXHAUSTED, text)
    } else if (result === 'too busy') {
      sink.refuse(status.RESOURCE_EXHAUSTED, 'too many compressed messages at a time')
    } else {
      const text = `grpc: failed to decompress the received message: ${result.message}`
      sink.refuse(status.INTERNAL, text)
    }
  }

  /** Returns true if the connection was closed. */
  #isBomb(fromBytes: number, toBytes: number): boolean {
    const { connection } = this.#stream
    const limit = connection.meter.decompressed(fromBytes, toBytes, connection.hub.nowMs)
    if (limit === undefined) return false
    connection.close(errorCode.ENHANCE_YOUR_CALM, `over the limit ${limit}`)
    return true
  }

  /**
   * Refuses an unsupported encoding, and a compressed flag without an encoding, with the statuses
   * that the gRPC compression specification prescribes.
   */
  #takesCompression(flag: number): boolean {
    const encoding = this.#stream.header('grpc-encoding')
    if (flag === 1 && encoding === 'gzip') return true
    if (flag !== 1) {
      this.#sink.refuse(status.INTERNAL, `grpc: received unexpected payload format ${flag}`)
    } else if (encoding === undefined || encoding === 'identity') {
      const text = 'grpc: compressed flag set with identity or empty encoding'
      this.#sink.refuse(status.INTERNAL, text)
    } else {
      const text = `grpc: grpc-encoding "${encoding}" is not supported; use identity or gzip`
      this.#sink.refuse(status.UNIMPLEMENTED, text)
    }
    return false
  }

  /** @param total the size of the message with its prefix, if known. */
  #append(bytes: Buffer, start: number, end: number, total = Number.POSITIVE_INFINITY): number {
    const filled = this.#filled + end - start
    if (filled > this.#bytes.length) {
      const larger = this.#buffers.take(Math.max(filled, Math.min(total, this.#bytes.length * 2)))
      const growth = larger.length - this.#bytes.length
      if (!this.#stream.connection.hold(this.#stream, growth)) {
        this.#buffers.give(larger)
        this.#sink.refuse(status.RESOURCE_EXHAUSTED, TOO_MANY_UNFINISHED)
        return end
      }
      this.#bytes.copy(larger, 0, 0, this.#filled)
      this.#buffers.give(this.#bytes)
      this.#bytes = larger
    }
    bytes.copy(this.#bytes, this.#filled, start, end)
    this.#filled = filled
    if (filled >= this.#nextBeginning && filled < total) this.#passBeginning()
    return end
  }

  #passBeginning(): void {
    this.#nextBeginning = 4 * this.#filled
    if (byteAt(this.#bytes, 0) !== 0) return
    this.#sink.beginning?.(this.#bytes, PREFIX_SIZE, this.#filled)
    if (!this.#stream.isOpen) this.abandon()
  }

  /** The call is over, so the received part of its message is discarded. */
  abandon(): void {
    this.#buffers.give(this.#bytes)
    this.#bytes = EMPTY
    this.#filled = 0
    this.#nextBeginning = FIRST_BEGINNING
  }

  get #buffers(): RequestBuffers {
    return this.#stream.connection.hub.requestBuffers
  }
}

/** RFC 1952 2.3.1: the last four bytes are the length before compression. */
function readClaimedLength(compressed: Buffer): number {
  return compressed.length < 4 ? 0 : compressed.readUInt32LE(compressed.length - 4)
}
