import type { ResponseEncoder } from '../hpack/response-encoder.ts'
import type { Limits } from '../limits.ts'
import type { FloodMeter } from './flood-meter.ts'
import type { ErrorCode } from './frames.ts'
import type { Output } from './output.ts'
import type { RequestBuffers } from './request-buffers.ts'
import type { RequestHead } from './request-head.ts'

/** The handler of a request. It is looked up once for each header block and cached with it. */
export interface Route {
  open(connection: StreamConnection, id: number, head: RequestHead): Stream
}

/** The layer above HTTP/2, which finds a route for every well-formed request. */
export interface Application {
  route(head: RequestHead): Route
  /** For a request whose header fields exceed the limit and are therefore incomplete. */
  readonly tooLarge: Route
}

/** The part of the connection that streams and their flow control use. */
export interface StreamConnection {
  readonly hub: StreamHub
  readonly output: Output
  readonly encoder: ResponseEncoder
  readonly meter: FloodMeter
  readonly sendFlow: StreamSendFlow
  readonly isCongested: boolean
  /** Schedules a flush at the end of this turn of the event loop. */
  touch(): void
  /** Called when the response is complete. */
  finish(stream: Stream): void
  resetStream(id: number, code: ErrorCode): void
  close(code: ErrorCode, reason: string): void
  /** Counts memory of an incomplete request; returns false if the connection uses too much. */
  hold(stream: Stream, bytes: number): boolean
  release(stream: Stream, bytes: number): void
}

/** The part of the hub that streams use. */
interface StreamHub {
  readonly limits: Limits
  readonly requestBuffers: RequestBuffers
  /** The time of the current read or timer callback. */
  nowMs: number
  countUnsent(change: number): void
}

/** How a response is sent. */
export interface StreamSendFlow {
  /** The initial window of a new stream. */
  readonly initialWindow: number
  /** Spends the windows if this many bytes may be sent in one frame right now. */
  tryPass(stream: Stream, size: number): boolean
  /** Sends what is allowed now and holds back the rest. The stream takes over the chunk. */
  send(stream: Stream, chunk: Buffer): void
  /** Calls `finish` once everything before it is sent. */
  whenSent(stream: Stream, finish: () => void): void
}

/** The data of a stream that may not be sent yet. */
export class QueuedData {
  readonly chunks: Buffer[] = []
  /** How much of the first chunk was sent. */
  offset = 0
  bytes = 0
  /** Called when all chunks are sent. */
  finish: (() => void) | undefined
}

/**
 * Header fields up to this size are usual and are counted only if their stream has to wait; larger ones count as
 * buffered bytes of the request at once.
 */
export const ORDINARY_HEAD = 2048

/** The approximate size of a stream and its entry in the table of its connection. */
const STREAM_BYTES = 1024

/**
 * What a stream that waits for its client takes in memory. It is counted, because a client can open a thousand
 * streams on every connection and send none of their messages.
 */
export function toParkedBytes({ isRequestComplete, head }: Stream): number {
  if (isRequestComplete) return 0
  return head.size > ORDINARY_HEAD ? STREAM_BYTES : STREAM_BYTES + head.size
}

/**
 * One request and its response. The connection keeps the state that RFC 9113 5.1 describes;
 * subclasses interpret the bytes.
 */
export abstract class Stream {
  readonly connection: StreamConnection
  readonly id: number
  readonly head: RequestHead
  /** False once the call was answered, cancelled or lost. */
  isOpen = true
  isRemoteClosed = false
  isLocalClosed = false
  /** A handler has the complete request, so the stream no longer waits for its client. */
  isRequestComplete = false
  /**
   * How much the peer allows us to send (RFC 9113 6.9); negative after its initial window was
   * reduced.
   */
  sendWindow: number
  /** DATA bytes received, without padding. */
  receivedBytes = 0
  /** Bytes received that were not yet credited to the peer with a WINDOW_UPDATE. */
  uncreditedBytes = 0
  /** The part of the connection's buffered request bytes that belongs to this stream. */
  bufferedBytes = 0
  heldBack: QueuedData | undefined = undefined
  /** When `expire` is due, as `performance.now()`. */
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

  /** Called with bytes of the request; `isLast` if the peer sends no more. */
  abstract data(bytes: Buffer, start: number, end: number, isLast: boolean): void

  /** Called when the stream is in the connection's table. */
  abstract opened(): void

  /** Called when an unanswered stream was cancelled, reset or lost; `isOpen` is already false. */
  abstract abandoned(): void

  /** Called when the incomplete requests of the connection take too much memory for this one. */
  abstract crowdedOut(): void

  /** Whether the caller's deadline has passed, or nearly. A cancellation then does not count as a flood. */
  abstract isTimeUp(nowMs: number): boolean

  /** Called when `expiresAtMs` has passed. */
  abstract expire(nowMs: number): void
}
