import type { Socket } from 'node:net'
import { ResponseEncoder } from '../hpack/response-encoder.ts'
import { Congestion } from './congestion.ts'
import { controlFrames } from './control-frames.ts'
import { Drain } from './drain.ts'
import { type Flood, FloodMeter, flood } from './flood-meter.ts'
import { SendFlow } from './flow-control.ts'
import type { FrameConnection } from './frame-connection.ts'
import { FrameReader, type FrameSink } from './frame-reader.ts'
import {
  type ErrorCode,
  errorCode,
  flag,
  frameType,
  toGoawayFrame,
  toNumberFrame,
} from './frames.ts'
import type { Hub, HubConnection } from './hub.ts'
import { Output } from './output.ts'
import { ReadTurn } from './read-turns.ts'
import { RequestFrames } from './request-frames.ts'
import { openingFrames } from './settings.ts'
import { type Stream, toParkedBytes } from './stream.ts'
import { StreamTable } from './stream-table.ts'

/** Spreads the end of connections that were opened at the same time. */
const AGE_JITTER = 0.1

/** How much of the input after our GOAWAY is read. A client that sends more does not want to close the connection. */
const MOST_BYTES_AFTER_CLOSE = 262_144

/** One HTTP/2 connection of the server (RFC 9113). */
export class Connection implements FrameSink, FrameConnection, HubConnection {
  readonly hub: Hub
  readonly socket: Socket
  readonly output: Output
  readonly encoder = new ResponseEncoder()
  readonly sendFlow: SendFlow
  readonly streams: StreamTable
  readonly meter: FloodMeter
  readonly drain: Drain
  /** Further input is discarded, and nothing more is written. */
  isClosed = false
  #bytesAfterClose = 0
  /** The peer's preface and first SETTINGS were received. */
  isEstablished = false
  bufferedBytes = 0
  readonly openedMs: number
  readonly maxAgeMs: number
  lastReadMs: number
  closedSinceMs = 0
  /** When the current incomplete frame or header block began; Infinity if there is none. */
  frameSinceMs = Number.POSITIVE_INFINITY
  blockSinceMs = Number.POSITIVE_INFINITY
  readonly #reader: FrameReader
  readonly #requests: RequestFrames
  readonly #congestion: Congestion
  #isReading = false
  #isDirty = false
  readonly #turn: ReadTurn

  constructor(hub: Hub, socket: Socket) {
    this.hub = hub
    this.socket = socket
    this.openedMs = performance.now()
    this.maxAgeMs = hub.age.maxMs * (1 + AGE_JITTER * (2 * Math.random() - 1))
    this.lastReadMs = this.openedMs
    this.#congestion = new Congestion(socket, hub.limits.unsentBytes, (bytes) =>
      hub.countUnsent(bytes),
    )
    this.output = new Output(socket, hub.slabs, () => this.#congestion.check())
    this.streams = new StreamTable(hub.limits.concurrentStreams)
    this.sendFlow = new SendFlow(this)
    this.meter = new FloodMeter(hub.limits)
    this.drain = new Drain(this, () => hub.leaving(this))
    this.#reader = new FrameReader(this)
    this.#requests = new RequestFrames(this)
    this.#turn = new ReadTurn(this)
    this.output.append(openingFrames(hub.limits))
    this.output.flush()
  }

  /**
   * Handles all frames of one read, the first `length` bytes; their responses are sent in one
   * write.
   */
  read(bytes: Buffer, length = bytes.length): void {
    if (this.isClosed) {
      this.#discardInput(length)
      return
    }
    const nowMs = performance.now()
    this.hub.nowMs = nowMs
    this.lastReadMs = nowMs
    this.#isReading = true
    this.#reader.read(bytes, length)
    this.#isReading = false
    if (this.isClosed) return
    this.parkNewest()
    if (!this.#reader.isInsideFrame) this.frameSinceMs = Number.POSITIVE_INFINITY
    else if (this.#reader.isNewlyInside) this.frameSinceMs = nowMs
    this.flush()
    this.#turn.count(length, nowMs)
  }

  frame(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (this.#requests.openBlockId !== 0) {
      this.#requests.continuation(type, flags, id, bytes, start, end)
    } else if (type === frameType.DATA && this.isEstablished) {
      this.#requests.data(flags, id, bytes, start, end)
    } else if (type === frameType.HEADERS && this.isEstablished) {
      this.#requests.headers(flags, id, bytes, start, end)
    } else if (this.#isInOrder(type, flags)) {
      const handle = controlFrames[type]
      if (handle !== undefined) handle(this, flags, id, bytes, start, end)
      else this.overLimit(flood.stray)
    }
  }

  badPreface(): void {
    this.close(errorCode.PROTOCOL_ERROR, 'this port speaks HTTP/2 only')
  }

  frameTooLong(): void {
    this.close(errorCode.FRAME_SIZE_ERROR, 'frame longer than SETTINGS_MAX_FRAME_SIZE')
  }

  touch(): void {
    if (this.#isReading || this.#isDirty) return
    this.#isDirty = true
    this.hub.markDirty(this)
  }

  flush(): void {
    this.#isDirty = false
    if (this.isClosed) return
    this.output.flush()
    this.#congestion.check()
  }

  /** Called when the socket has sent everything. */
  drained(): void {
    const wasCongested = this.isCongested
    this.#congestion.end()
    if (!wasCongested || this.isClosed) return
    this.sendFlow.releaseAll()
    this.flush()
    if (!this.isCongested && !this.#turn.isWaiting) this.socket.resume()
  }

  /** A connection error (RFC 9113 5.4.1), or a regular end with NO_ERROR. */
  close(code: ErrorCode, reason: string): void {
    if (this.isClosed) return
    this.output.append(toGoawayFrame(this.streams.lastId, code, reason))
    this.end()
  }

  /** Closes the connection after the written bytes are sent. */
  end(): void {
    if (this.isClosed) return
    this.output.flush()
    this.isClosed = true
    this.closedSinceMs = performance.now()
    this.socket.end()
    // Further input is read and discarded: with unread bytes the kernel would reset the connection,
    // and the peer would not receive the reason.
    this.socket.resume()
    this.#abandonStreams()
  }

  #discardInput(length: number): void {
    this.#bytesAfterClose += length
    // The watchdog destroys the socket when the peer has had the time to read our GOAWAY.
    if (this.#bytesAfterClose > MOST_BYTES_AFTER_CLOSE) this.socket.pause()
  }

  /** Called when the socket is closed. */
  lost(): void {
    this.isClosed = true
    this.#congestion.end()
    this.#abandonStreams()
    this.hub.remove(this)
  }

  finish(stream: Stream): void {
    stream.isOpen = false
    stream.isLocalClosed = true
    this.touch()
    if (!stream.isRemoteClosed) {
      // RFC 9113 8.1: the rest of the request is not needed, which is not an error.
      this.output.append(toNumberFrame(frameType.RST_STREAM, stream.id, errorCode.NO_ERROR))
      this.streams.rememberReset(stream.id)
    }
    this.#remove(stream)
  }

  streamError(id: number, code: ErrorCode): void {
    if (this.overLimit(flood.streamError)) return
    // RFC 9113 6.4: an idle stream cannot be reset, and a stream is reset only once.
    if (id > this.streams.lastId) this.close(code, 'an error on an idle stream')
    else if (!this.streams.isReset(id)) this.resetStream(id, code)
  }

  resetStream(id: number, code: ErrorCode): void {
    this.output.append(toNumberFrame(frameType.RST_STREAM, id, code))
    this.streams.rememberReset(id)
    this.touch()
    const stream = this.streams.find(id)
    if (stream !== undefined) this.#discard(stream)
  }

  cancel(stream: Stream): void {
    const { isOpen } = stream
    const isEarly = isOpen && !stream.isTimeUp(this.hub.nowMs)
    this.#discard(stream)
    if (isEarly) this.overLimit(flood.reset)
    else if (!isOpen) this.overLimit(flood.lateReset)
  }

  get isCongested(): boolean {
    return this.#congestion.isCongested
  }

  get congestedSinceMs(): number {
    return this.#congestion.sinceMs
  }

  get unsentBytes(): number {
    return this.#congestion.countedBytes + this.sendFlow.heldBytes
  }

  hold(stream: Stream, bytes: number): boolean {
    if (this.bufferedBytes + bytes > this.hub.limits.bufferedRequestBytes) return false
    this.bufferedBytes += bytes
    stream.bufferedBytes += bytes
    this.hub.countBuffered(bytes)
    return true
  }

  release(stream: Stream, bytes: number): void {
    this.bufferedBytes -= bytes
    stream.bufferedBytes -= bytes
    this.hub.countBuffered(-bytes)
  }

  overLimit(kind: Flood): boolean {
    const limit = this.meter.exceeded(kind, this.hub.nowMs)
    if (limit === undefined) return false
    this.close(errorCode.ENHANCE_YOUR_CALM, `over the limit ${limit}`)
    return true
  }

  expire(nowMs: number): void {
    let earliestMs = Number.POSITIVE_INFINITY
    for (const stream of this.streams.all()) {
      if (stream.isOpen && stream.expiresAtMs <= nowMs) stream.expire(nowMs)
      if (stream.isOpen && stream.expiresAtMs < earliestMs) earliestMs = stream.expiresAtMs
    }
    this.streams.earliestExpiryMs = earliestMs
  }

  parkNewest(): void {
    const parked = this.streams.park()
    if (parked === undefined) return
    if (parked.expiresAtMs !== Number.POSITIVE_INFINITY) {
      this.hub.watchExpiry(this, parked.expiresAtMs)
    }
    if (!this.hold(parked, toParkedBytes(parked))) parked.crowdedOut()
  }

  /** RFC 9113 3.4: the first frame is SETTINGS. */
  #isInOrder(type: number, flags: number): boolean {
    if (this.isEstablished) return true
    if (type !== frameType.SETTINGS || (flags & flag.ACK) !== 0) {
      this.close(errorCode.PROTOCOL_ERROR, 'the first frame must be SETTINGS')
      return false
    }
    this.isEstablished = true
    return true
  }

  #abandonStreams(): void {
    for (const stream of this.streams.all()) this.#discard(stream)
  }

  #discard(stream: Stream): void {
    const wasOpen = stream.isOpen
    stream.isOpen = false
    stream.isLocalClosed = true
    this.#remove(stream)
    if (wasOpen) stream.abandoned()
  }

  #remove(stream: Stream): void {
    this.streams.remove(stream)
    if (stream.heldBack !== undefined) this.sendFlow.forget(stream)
    if (stream.bufferedBytes > 0) this.release(stream, stream.bufferedBytes)
    if (this.drain.isFinal) this.drain.streamEnded()
  }
}
