import { byteAt, EMPTY, uint31At } from '../bytes.ts'
import { HpackDecoder } from '../hpack/decoder.ts'
import { flood } from './flood-meter.ts'
import { ReceiveWindow } from './flow-control.ts'
import type { FrameConnection } from './frame-connection.ts'
import { errorCode, flag, frameType, toNumberFrame } from './frames.ts'
import { HeadCache, HeaderBlock } from './header-block.ts'
import { areTrailers, parseRequestHead, type RequestHead, unknownHead } from './request-head.ts'
import { CONNECTION_WINDOW, HEADER_TABLE_SIZE, STREAM_WINDOW } from './settings.ts'
import { ORDINARY_HEAD, type Route, type Stream } from './stream.ts'

/** Shorter DATA frames that do not end a request cost more than they carry. */
const SMALL_DATA = 64

/** Handles the frames that make up requests: HEADERS, CONTINUATION and DATA. */
export class RequestFrames {
  /** The stream whose header block the next frame must continue; 0 if there is none. */
  openBlockId = 0
  readonly #connection: FrameConnection
  readonly #decoder: HpackDecoder
  readonly #heads = new HeadCache()
  readonly #block = new HeaderBlock()
  readonly #window = new ReceiveWindow(CONNECTION_WINDOW)

  constructor(connection: FrameConnection) {
    this.#connection = connection
    this.#decoder = new HpackDecoder(HEADER_TABLE_SIZE, connection.hub.limits.headerListBytes)
  }

  /** RFC 9113 6.1. Padding counts only for flow control. */
  data(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    const connection = this.#connection
    if (id === 0) {
      connection.close(errorCode.PROTOCOL_ERROR, 'DATA on stream 0')
      return
    }
    if (!this.#window.take(end - start)) {
      connection.close(errorCode.FLOW_CONTROL_ERROR, 'more DATA than the connection window allows')
      return
    }
    const credit = this.#window.credit()
    if (credit > 0) connection.output.append(toNumberFrame(frameType.WINDOW_UPDATE, 0, credit))

    let from = start
    let to = end
    if ((flags & flag.PADDED) !== 0) {
      to -= start < end ? byteAt(bytes, start) : 0
      from++
      if (to < from) {
        connection.close(errorCode.PROTOCOL_ERROR, 'padding longer than its frame')
        return
      }
    }
    const stream = connection.streams.find(id)
    if (stream === undefined || stream.isRemoteClosed) {
      this.#strayData(stream, id, to - from)
      return
    }
    const isLast = (flags & flag.END_STREAM) !== 0
    if (isLast) stream.isRemoteClosed = true
    else if (!this.#creditStream(stream, end - start, to - from)) return
    stream.receivedBytes += to - from
    if (this.#fitsContentLength(stream)) stream.data(bytes, from, to, isLast)
  }

  /** RFC 9113 6.2. */
  headers(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    const connection = this.#connection
    if ((id & 1) === 0) {
      connection.close(errorCode.PROTOCOL_ERROR, 'the stream identifiers of a client must be odd')
      return
    }
    let from = start
    let to = end
    if ((flags & flag.PADDED) !== 0) {
      to -= start < end ? byteAt(bytes, start) : 0
      from++
    }
    const priority = from
    if ((flags & flag.PRIORITY) !== 0) from += 5
    if (to < from) {
      connection.close(errorCode.PROTOCOL_ERROR, 'padding or priority longer than the frame')
      return
    }
    const isLast = (flags & flag.END_STREAM) !== 0
    if ((flags & flag.END_HEADERS) === 0) {
      this.openBlockId = id
      this.#block.begin(bytes, from, to, isLast)
      connection.blockSinceMs = connection.hub.nowMs
      return
    }
    // RFC 7540 5.3.1: a stream cannot depend on itself.
    if ((flags & flag.PRIORITY) !== 0 && uint31At(bytes, priority) === id) {
      if (this.#decoder.decode(bytes, from, to) === undefined) this.#undecodable()
      else this.#refuse(id)
      return
    }
    this.#headerBlock(id, isLast, bytes, from, to)
  }

  /** RFC 9113 6.10: no other frame may come between the frames of a header block. */
  continuation(
    type: number,
    flags: number,
    id: number,
    bytes: Buffer,
    start: number,
    end: number,
  ): void {
    const connection = this.#connection
    if (type !== frameType.CONTINUATION || id !== this.openBlockId) {
      connection.close(errorCode.PROTOCOL_ERROR, 'a header block must continue with CONTINUATION')
      return
    }
    const limit = this.#block.add(bytes, start, end, connection.hub.limits)
    if (limit !== undefined) {
      connection.close(errorCode.ENHANCE_YOUR_CALM, `over the limit ${limit}`)
      return
    }
    if ((flags & flag.END_HEADERS) === 0) return
    this.openBlockId = 0
    connection.blockSinceMs = Number.POSITIVE_INFINITY
    this.#headerBlock(id, this.#block.isEndOfStream, this.#block.bytes, 0, this.#block.length)
    this.#block.release()
  }

  #headerBlock(id: number, isLast: boolean, bytes: Buffer, start: number, end: number): void {
    const connection = this.#connection
    const decoder = this.#decoder
    const { generation } = decoder.table
    const isNew = id > connection.streams.lastId
    const known = isNew ? this.#heads.find(bytes, start, end, generation) : undefined
    if (known !== undefined) {
      this.#open(id, known.head, known.route, isLast)
      return
    }
    const fields = decoder.decode(bytes, start, end)
    if (fields === undefined) {
      this.#undecodable()
      return
    }
    if (decoder.isTooLarge && connection.overLimit(flood.largeHeaders)) return
    if (!isNew) {
      this.#trailers(id, isLast, areTrailers(fields))
      return
    }
    const { application } = connection.hub
    if (decoder.isTooLarge) {
      this.#open(id, unknownHead, application.tooLarge, isLast)
      return
    }
    const head = parseRequestHead(fields, decoder.listSize)
    if (head === undefined) {
      this.#refuse(id)
      return
    }
    const route = application.route(head)
    if (decoder.table.generation === generation) {
      this.#heads.add(head, route, bytes, start, end, generation)
    }
    this.#open(id, head, route, isLast)
  }

  #open(id: number, head: RequestHead, route: Route, isLast: boolean): void {
    const connection = this.#connection
    const { streams } = connection
    connection.parkNewest()
    streams.use(id)
    if (connection.drain.isFinal) {
      streams.rememberReset(id)
      connection.overLimit(flood.refusedStream)
      return
    }
    if (streams.parkedCount >= connection.hub.limits.concurrentStreams) {
      if (connection.overLimit(flood.refusedStream)) return
      connection.resetStream(id, errorCode.REFUSED_STREAM)
      return
    }
    connection.meter.calls++
    let stream = route.open(connection, id, head)
    if (head.size > ORDINARY_HEAD && !connection.hold(stream, head.size)) {
      stream = connection.hub.application.tooLarge.open(connection, id, unknownHead)
    }
    streams.add(stream)
    if (isLast) {
      stream.isRemoteClosed = true
      if (!this.#fitsContentLength(stream)) return
    }
    stream.opened()
    if (isLast && stream.isOpen) stream.data(EMPTY, 0, 0, true)
  }

  /** RFC 9113 4.3: without the compression context, later blocks cannot be decoded. */
  #undecodable(): void {
    if (this.#decoder.isBomb) {
      this.#connection.close(errorCode.ENHANCE_YOUR_CALM, 'over the limit headerListBytes')
      return
    }
    this.#connection.close(errorCode.COMPRESSION_ERROR, 'header block cannot be decoded')
  }

  /** Resets the stream of a malformed request (RFC 9113 8.1.1). */
  #refuse(id: number): void {
    const connection = this.#connection
    connection.parkNewest()
    if (id > connection.streams.lastId) connection.streams.use(id)
    connection.streamError(id, errorCode.PROTOCOL_ERROR)
  }

  /** The second header block of a stream (RFC 9113 8.1). */
  #trailers(id: number, isLast: boolean, areValid: boolean): void {
    const connection = this.#connection
    const stream = connection.streams.find(id)
    if (stream === undefined) {
      const absence = connection.streams.absence(id)
      if (absence === 'reset') return
      const code = absence === 'closed' ? errorCode.STREAM_CLOSED : errorCode.PROTOCOL_ERROR
      connection.close(code, 'HEADERS on a stream that is closed')
    } else if (stream.isRemoteClosed) {
      connection.streamError(id, errorCode.STREAM_CLOSED)
    } else if (!isLast || !areValid) {
      connection.streamError(id, errorCode.PROTOCOL_ERROR)
    } else {
      stream.isRemoteClosed = true
      if (this.#fitsContentLength(stream)) stream.data(EMPTY, 0, 0, true)
    }
  }

  /** RFC 9113 5.1: DATA for a stream that does not accept any. */
  #strayData(stream: Stream | undefined, id: number, length: number): void {
    const connection = this.#connection
    const absence = stream === undefined ? connection.streams.absence(id) : 'closed'
    if (absence === 'idle') connection.close(errorCode.PROTOCOL_ERROR, 'DATA on an idle stream')
    else if (absence !== 'reset') connection.streamError(id, errorCode.STREAM_CLOSED)
    else if (!this.#isSmallFlood(length)) this.#discard(length)
  }

  /** A client may send a whole window before it reads that its call has ended, but not all the time. */
  #discard(length: number): void {
    const connection = this.#connection
    const limit = connection.meter.discarded(length, connection.hub.nowMs)
    if (limit !== undefined)
      connection.close(errorCode.ENHANCE_YOUR_CALM, `over the limit ${limit}`)
  }

  /**
   * Counts received bytes against the window of the stream and credits them to the peer in large
   * steps. Returns false if the stream was reset or the connection was closed.
   */
  #creditStream(stream: Stream, length: number, contentLength: number): boolean {
    const connection = this.#connection
    if (this.#isSmallFlood(contentLength)) return false
    stream.uncreditedBytes += length
    if (stream.uncreditedBytes > STREAM_WINDOW) {
      connection.streamError(stream.id, errorCode.FLOW_CONTROL_ERROR)
      return false
    }
    if (stream.uncreditedBytes >= STREAM_WINDOW >> 1) {
      const credit = stream.uncreditedBytes
      stream.uncreditedBytes = 0
      connection.output.append(toNumberFrame(frameType.WINDOW_UPDATE, stream.id, credit))
    }
    return true
  }

  /** Counts a small DATA frame; returns true if the connection was closed. */
  #isSmallFlood(length: number): boolean {
    if (length >= SMALL_DATA) return false
    return this.#connection.overLimit(length === 0 ? flood.emptyData : flood.smallData)
  }

  /** RFC 9113 8.1.1: the body must be as long as `content-length`. */
  #fitsContentLength(stream: Stream): boolean {
    const expected = stream.head.contentLength
    if (expected < 0 || stream.receivedBytes === expected) return true
    if (stream.receivedBytes < expected && !stream.isRemoteClosed) return true
    this.#connection.streamError(stream.id, errorCode.PROTOCOL_ERROR)
    return false
  }
}
