import type { ResponseEncoder } from '../hpack/response-encoder.ts'
import type { Limits } from '../limits.ts'
import type { FloodMeter } from './flood-meter.ts'
import type { ErrorCode } from './frames.ts'
import type { Output } from './output.ts'
import type { RequestBuffers } from './request-buffers.ts'
import type { RequestHead } from './request-head.ts'

/** What streams and their flow control see of the connection. */
export interface StreamConnection {
  readonly hub: StreamHub
  readonly output: Output
  readonly encoder: ResponseEncoder
  readonly meter: FloodMeter
  readonly sendFlow: StreamSendFlow
  readonly isCongested: boolean
  /** Something was written: it leaves with the rest of this turn of the event loop. */
  touch(): void
  /** The stream was answered to its end. */
  finish(stream: Stream): void
  resetStream(id: number, code: ErrorCode): void
  close(code: ErrorCode, reason: string): void
  /** Counts memory of a request that is not whole yet; false when the connection has too much. */
  hold(stream: Stream, bytes: number): boolean
  letGo(stream: Stream, bytes: number): void
}

/** What they see of that which all connections share. */
export interface StreamHub {
  readonly limits: Limits
  readonly requestBuffers: RequestBuffers
  /** The time of the read or timer that runs now. */
  nowMs: number
  countUnsent(change: number): void
}

/** How an answer is sent. */
export interface StreamSendFlow {
  /** The window that a new stream starts with. */
  readonly initialWindow: number
  /** Spends the windows when so many bytes may go out in one frame right now. */
  tryPass(stream: Stream, size: number): boolean
  /** Sends what may go now and holds back the rest. The chunk belongs to the stream from here on. */
  send(stream: Stream, chunk: Buffer): void
  /** Runs `finish` once everything before it is sent. */
  whenSent(stream: Stream, finish: () => void): void
}

/** What a stream has to send and may not yet. */
export class HeldBack {
  readonly chunks: Buffer[] = []
  /** How much of the first chunk is sent. */
  offset = 0
  bytes = 0
  /** Runs when all chunks are sent. */
  finish: (() => void) | undefined
}

/**
 * One request and its answer. The connection keeps the state that RFC 9113 5.1 describes; what the
 * bytes mean is up to the subclass.
 */
export abstract class Stream {
  readonly connection: StreamConnection
  readonly id: number
  readonly head: RequestHead
  /** False once it was answered, cancelled, or lost. */
  isOpen = true
  isRemoteClosed = false
  isLocalClosed = false
  /** What the peer lets us send (RFC 9113 6.9); negative after its initial window shrank. */
  sendWindow: number
  /** DATA bytes received, without padding. */
  receivedBytes = 0
  /** Received and not yet credited to the peer with a WINDOW_UPDATE. */
  uncreditedBytes = 0
  /** Counted in the connection's buffered request bytes. */
  bufferedBytes = 0
  heldBack: HeldBack | undefined = undefined
  /** When `expire` is due, as `Date.now()`. */
  expiresAtMs = Number.POSITIVE_INFINITY

  constructor(connection: StreamConnection, id: number, head: RequestHead) {
    this.connection = connection
    this.id = id
    this.head = head
    this.sendWindow = connection.sendFlow.initialWindow
  }

  header(name: string): string | undefined {
    return this.head.header(name)
  }

  /** Bytes of the request; `isLast` when the peer sends no more. */
  abstract data(bytes: Buffer, start: number, end: number, isLast: boolean): void

  /** It is in the connection's table now. */
  abstract opened(): void

  /** Cancelled, reset or lost while nobody had answered it; `isOpen` is false already. */
  abstract abandoned(): void

  /** The caller has waited as long as it said it would: then it has a reason to cancel. */
  abstract isTimeUp(nowMs: number): boolean

  /** `expiresAtMs` has passed. */
  abstract expire(nowMs: number): void
}
