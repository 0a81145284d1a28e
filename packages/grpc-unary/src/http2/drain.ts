import { putUint32, uint32At } from '../bytes.ts'
import { type ErrorCode, errorCode, MAX_STREAM_ID, toGoawayFrame, toPingFrame } from './frames.ts'
import type { Output } from './output.ts'
import type { StreamTable } from './stream-table.ts'

/** The part of the connection that a drain uses. */
export interface DrainConnection {
  readonly isClosed: boolean
  readonly isEstablished: boolean
  readonly output: Output
  readonly streams: StreamTable
  flush(): void
  touch(): void
  close(code: ErrorCode, reason: string): void
  end(): void
}

/** The first four bytes of our PINGs; the others identify the PING. */
const PING_TAG = 0x50_43_47_50
const PING_DRAIN = 1
const PING_ALIVE = 2

/**
 * Ends a connection without losing a call (RFC 9113 6.8). The first GOAWAY only asks the client to
 * open no more calls; calls in transit are still accepted. When the PING sent after it is
 * acknowledged, the client has seen the GOAWAY, and the second GOAWAY names the last accepted call.
 */
export class Drain {
  /** The last accepted stream is fixed; newer streams are ignored. */
  isFinal = false
  sinceMs = Number.POSITIVE_INFINITY
  #isOverdue = false
  /** When the keepalive PING was sent; Infinity if none is outstanding. */
  keepaliveSentMs = Number.POSITIVE_INFINITY
  readonly #connection: DrainConnection
  readonly #onBegin: () => void

  /** @param onBegin called when the connection stops accepting new calls. */
  constructor(connection: DrainConnection, onBegin: () => void) {
    this.#connection = connection
    this.#onBegin = onBegin
  }

  get isBegun(): boolean {
    return this.sinceMs !== Number.POSITIVE_INFINITY
  }

  begin(): void {
    const connection = this.#connection
    if (this.isBegun || connection.isClosed) return
    this.sinceMs = performance.now()
    this.#onBegin()
    if (!connection.isEstablished) {
      connection.close(errorCode.NO_ERROR, 'server is going away')
      return
    }
    connection.output.append(toGoawayFrame(MAX_STREAM_ID, errorCode.NO_ERROR, ''))
    this.#ping(PING_DRAIN)
    connection.flush()
  }

  /** Sends the second GOAWAY. */
  finish(): void {
    const connection = this.#connection
    if (this.isFinal || connection.isClosed) return
    this.isFinal = true
    const { lastId } = connection.streams
    connection.output.append(toGoawayFrame(lastId, errorCode.NO_ERROR, ''))
    connection.touch()
    this.streamEnded()
  }

  /**
   * Called repeatedly while the PING is not acknowledged in time. Only the second call sends the
   * GOAWAY: if this process was paused, the acknowledgement, and calls before it, may have arrived
   * and are read between the two calls.
   */
  finishIfOverdue(): void {
    if (this.#isOverdue) this.finish()
    this.#isOverdue = true
  }

  streamEnded(): void {
    const connection = this.#connection
    if (connection.streams.count === 0) connection.end()
  }

  sendKeepalive(nowMs: number): void {
    this.keepaliveSentMs = nowMs
    this.#ping(PING_ALIVE)
    this.#connection.flush()
  }

  pingAcknowledged(bytes: Buffer, start: number): void {
    if (uint32At(bytes, start) !== PING_TAG) return
    if (uint32At(bytes, start + 4) === PING_DRAIN) this.finish()
  }

  #ping(which: number): void {
    const opaque = Buffer.allocUnsafe(8)
    putUint32(opaque, 0, PING_TAG)
    putUint32(opaque, 4, which)
    this.#connection.output.append(toPingFrame(opaque, 0, false))
  }
}
