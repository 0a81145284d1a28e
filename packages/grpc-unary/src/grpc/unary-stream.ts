import { byteAt, EMPTY, uint32At } from '../bytes.ts'
import type { RequestHead } from '../http2/request-head.ts'
import { Stream, type StreamConnection } from '../http2/stream.ts'
import type { UnaryCall, UnaryMethod } from '../method.ts'
import { type StatusCode, status } from '../status.ts'
import { ACCEPTED_ENCODINGS, answerFailed, answerOk, PREFIX_SIZE } from './answer.ts'
import { catchRejection, type Report } from './handler-errors.ts'
import { MessageReader, type MessageSink, TOO_MANY_UNFINISHED } from './message-reader.ts'
import { isNearDeadline } from './timeout.ts'

/** The messages of grpc-go. */
const NO_MESSAGE =
  'cardinality violation: received no request message from non-client-streaming RPC'
const SECOND_MESSAGE =
  'cardinality violation: received multiple request messages for non-client-streaming RPC'

/** One unary call: it waits for its whole request, and exists until it is answered. */
export class UnaryStream extends Stream implements UnaryCall, MessageSink {
  buffer: Buffer = EMPTY
  start = 0
  end = 0
  readonly deadlineMs: number
  readonly #method: UnaryMethod
  readonly #report: Report
  /** Used only for a request that does not arrive as one message in a single last frame. */
  #reader: MessageReader | undefined
  #hasMessage = false
  #isDecompressing = false
  /** Whether the current frame is the last one of the request. */
  #isLastFrame = false

  constructor(
    connection: StreamConnection,
    id: number,
    head: RequestHead,
    method: UnaryMethod,
    timeoutMs: number,
    report: Report,
  ) {
    super(connection, id, head)
    const { nowMs, limits } = connection.hub
    this.deadlineMs = nowMs + timeoutMs
    this.expiresAtMs = Math.min(this.deadlineMs, nowMs + limits.requestTimeoutMs)
    this.#method = method
    this.#report = report
  }

  opened(): void {}

  data(bytes: Buffer, start: number, end: number, isLast: boolean): void {
    if (isLast && this.#reader === undefined && isOneMessage(bytes, start, end, this.connection)) {
      this.#run(bytes, start + PREFIX_SIZE, end)
      return
    }
    // The handler was called with the beginning of the message.
    if (this.isRequestComplete) return
    this.#reader ??= new MessageReader(this, this)
    this.#isLastFrame = isLast
    this.#reader.read(bytes, start, end)
    if (!isLast || !this.isOpen || this.isRequestComplete) return
    if (this.#reader.isInside) this.refuse(status.INTERNAL, 'grpc: unexpected end of the request')
    else if (!this.#hasMessage) this.refuse(status.INTERNAL, NO_MESSAGE)
    else if (!this.#isDecompressing) this.#run(this.buffer, this.start, this.end)
  }

  beginning(bytes: Buffer, start: number, end: number): void {
    if (!this.#hasMessage && this.#method.canRefuse?.(bytes, start, end)) {
      this.#run(bytes, start, end)
    }
  }

  /** Keeps the message until the request has ended, because a second message would be an error. */
  message(bytes: Buffer, start: number, end: number, rest: number): void {
    if (this.#hasMessage) {
      this.refuse(status.INTERNAL, SECOND_MESSAGE)
      return
    }
    this.#hasMessage = true
    if (this.#isLastFrame && rest === 0) this.#run(bytes, start, end)
    else this.#keep(Buffer.from(bytes.subarray(start, end)))
  }

  decompressing(): void {
    if (this.#hasMessage) this.refuse(status.INTERNAL, SECOND_MESSAGE)
    this.#hasMessage = true
    this.#isDecompressing = true
  }

  decompressed(bytes: Buffer): void {
    this.#isDecompressing = false
    if (this.isRemoteClosed) this.#run(bytes, 0, bytes.length)
    else this.#keep(bytes)
  }

  send(message: Uint8Array, start: number, end: number): void {
    if (this.isOpen) answerOk(this, message, start, end)
  }

  fail(code: StatusCode, message: string): void {
    if (this.isOpen) answerFailed(this, code, message)
  }

  refuse(code: StatusCode, text: string): void {
    if (this.isOpen) answerFailed(this, code, text, { fields: ACCEPTED_ENCODINGS })
  }

  abandoned(): void {
    this.buffer = EMPTY
    this.#reader?.abandon()
  }

  crowdedOut(): void {
    this.refuse(status.RESOURCE_EXHAUSTED, TOO_MANY_UNFINISHED)
  }

  isTimeUp(nowMs: number): boolean {
    return isNearDeadline(this.head.timeout, this.deadlineMs, nowMs)
  }

  expire(nowMs: number): void {
    if (nowMs >= this.deadlineMs) this.fail(status.DEADLINE_EXCEEDED, 'deadline exceeded')
    else this.fail(status.CANCELLED, 'the request did not arrive in time')
  }

  #keep(message: Buffer): void {
    if (!this.connection.hold(this, message.length)) {
      this.crowdedOut()
      return
    }
    this.buffer = message
    this.start = 0
    this.end = message.length
  }

  #run(bytes: Buffer, start: number, end: number): void {
    this.isRequestComplete = true
    this.buffer = bytes
    this.start = start
    this.end = end
    this.expiresAtMs = this.deadlineMs
    // The request is complete and is not kept after the handler returns.
    if (this.bufferedBytes > 0) this.connection.release(this, this.bufferedBytes)
    const { hub } = this.connection
    // A timeout of nanoseconds can pass during the read that `hub.nowMs` is the time of.
    const nowMs = this.deadlineMs - hub.nowMs < 1 ? performance.now() : hub.nowMs
    if (this.deadlineMs <= nowMs) {
      this.expire(nowMs)
      return
    }
    try {
      const returned = this.#method.handle(this)
      if (returned !== undefined) catchRejection(returned, (error) => this.#failed(error))
    } catch (error) {
      this.#failed(error)
    }
    // The bytes are valid only during the handler; a waiting call must not keep a whole read buffer
    // alive.
    this.buffer = EMPTY
  }

  #failed(error: unknown): void {
    this.fail(status.INTERNAL, 'internal error')
    this.#report(error)
  }
}

/** True in the common case: exactly one message, uncompressed and not too long. */
function isOneMessage(
  bytes: Buffer,
  start: number,
  end: number,
  connection: StreamConnection,
): boolean {
  const length = end - start - PREFIX_SIZE
  return (
    length >= 0 &&
    byteAt(bytes, start) === 0 &&
    uint32At(bytes, start + 1) === length &&
    length <= connection.hub.limits.messageBytes
  )
}
