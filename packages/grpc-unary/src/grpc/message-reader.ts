import { byteAt, EMPTY, uint32At } from '../bytes.ts'
import type { Stream } from '../http2/stream.ts'
import { type StatusCode, status } from '../status.ts'
import { PREFIX_SIZE } from './answer.ts'

const FIRST_SIZE = 4096

/** Takes what the reader finds. */
export interface MessageSink {
  /** A whole message; the bytes are only valid until it returns. */
  message(bytes: Buffer, start: number, end: number): void
  refuse(code: StatusCode, text: string): void
}

/** Finds the messages in the bytes of a request, however they are cut into frames. */
export class MessageReader {
  readonly #stream: Stream
  readonly #sink: MessageSink
  /** The beginning of a message with its prefix. It grows with what arrives, not with the claim. */
  #bytes: Buffer = EMPTY
  #filled = 0

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

  /** A message that lies in one frame is handed on from there. */
  #readInPlace(bytes: Buffer, at: number, end: number): number {
    if (end - at >= PREFIX_SIZE) {
      const size = this.#checkedSize(bytes, at)
      if (size < 0) return end
      if (at + size <= end) {
        this.#sink.message(bytes, at + PREFIX_SIZE, at + size)
        return at + size
      }
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
    at = this.#append(bytes, at, Math.min(end, at + size - this.#filled))
    if (this.#filled === size) {
      const message = this.#bytes
      this.#release()
      this.#sink.message(message, PREFIX_SIZE, size)
    }
    return at
  }

  /** Prefix and message together, or -1 when the message is refused. */
  #checkedSize(bytes: Buffer, at: number): number {
    const compression = byteAt(bytes, at)
    const length = uint32At(bytes, at + 1)
    const limit = this.#stream.connection.hub.limits.messageBytes
    if (compression !== 0) {
      refuseCompressed(this.#sink, compression, this.#stream.header('grpc-encoding'))
      return -1
    }
    if (length > limit) {
      const text = `grpc: received message larger than max (${length} vs. ${limit})`
      this.#sink.refuse(status.RESOURCE_EXHAUSTED, text)
      return -1
    }
    return PREFIX_SIZE + length
  }

  #append(bytes: Buffer, start: number, end: number): number {
    const stream = this.#stream
    const { connection } = stream
    const filled = this.#filled + end - start
    if (filled > this.#bytes.length) {
      const size = Math.max(FIRST_SIZE, filled, this.#bytes.length * 2)
      const growth = size - this.#bytes.length
      if (connection.bufferedBytes + growth > connection.hub.limits.bufferedRequestBytes) {
        this.#sink.refuse(status.RESOURCE_EXHAUSTED, 'too many unfinished messages on a connection')
        return end
      }
      connection.bufferedBytes += growth
      stream.bufferedBytes += growth
      const larger = Buffer.allocUnsafeSlow(size)
      this.#bytes.copy(larger, 0, 0, this.#filled)
      this.#bytes = larger
    }
    bytes.copy(this.#bytes, this.#filled, start, end)
    this.#filled = filled
    return end
  }

  #release(): void {
    const stream = this.#stream
    stream.connection.bufferedBytes -= stream.bufferedBytes
    stream.bufferedBytes = 0
    this.#bytes = EMPTY
    this.#filled = 0
  }
}

/** The gRPC compression document: an encoding that is not supported, and a flag without one. */
function refuseCompressed(sink: MessageSink, flag: number, encoding: string | undefined): void {
  if (flag !== 1) {
    sink.refuse(status.INTERNAL, `grpc: received unexpected payload format ${flag}`)
  } else if (encoding === undefined || encoding === 'identity') {
    sink.refuse(status.INTERNAL, 'grpc: compressed flag set with identity or empty encoding')
  } else {
    const text = `grpc: grpc-encoding "${encoding}" is not supported; this server takes identity`
    sink.refuse(status.UNIMPLEMENTED, text)
  }
}
