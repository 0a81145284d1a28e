import type { Connection } from './connection.ts'
import type { RequestHead } from './request-head.ts'
import type { HeldBack } from './send-flow.ts'

/**
 * One request and its answer. The connection keeps the state that RFC 9113 5.1 describes; what the
 * bytes mean is up to the subclass.
 */
export abstract class Stream {
  readonly connection: Connection
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

  constructor(connection: Connection, id: number, head: RequestHead) {
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
