import { connect, type Socket } from 'node:net'
import type { Target } from '@portcullis/bench-kit/server-process'
import type { CallSource } from './calls.ts'
import {
  type FrameReader,
  frameFlags,
  frameTypes,
  readUint32,
  settingIds,
  toFrame,
  toSettings,
  toWindowUpdate,
  walkFrames,
} from './frames.ts'

/** The result of a call: an overall code of the protocol, or 0 if there was no valid response. */
export type AnswerCode = 0 | 1 | 2

export interface AnswerListener {
  /** All responses of one chunk have its arrival time. */
  answered(connection: Connection, code: AnswerCode, startedAtMs: number, nowMs: number): void
}

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const maxWindow = 0x7fff_ffff
const defaultWindow = 65_535
/** The number of received bytes after which the window is refilled. */
const windowRefill = 1 << 28
/** More than the calls in progress on one connection. The place of a stream is half its number. */
const places = 1 << 16
const outputSize = 1 << 20
const silenceMs = 10_000

/**
 * An HTTP/2 connection that supports only unary calls of one kind. All calls that are made while one chunk
 * of responses is read are sent in one write.
 */
export class Connection implements FrameReader {
  readonly #source: CallSource
  readonly #target: Target
  readonly #socket: Socket
  readonly #listener: AnswerListener
  readonly #failed: (error: Error) => void
  #isReady = false
  #onReady: () => void = () => {}
  #rest: Buffer | undefined
  #nextStreamId = 1
  readonly #startedAt = new Float64Array(places)
  readonly #codes = new Uint8Array(places)
  #out = Buffer.allocUnsafeSlow(outputSize)
  #used = 0
  #sendWindow = defaultWindow
  #received = 0
  #readAtMs = 0
  /** The start times of calls that flow control delays. */
  readonly #held: number[] = []
  #isClosing = false

  constructor(
    target: Target,
    source: CallSource,
    listener: AnswerListener,
    failed: (error: Error) => void,
  ) {
    this.#target = target
    this.#source = source
    this.#listener = listener
    this.#failed = failed
    this.#socket = connect({ ...target, noDelay: true })
    this.#socket.setTimeout(silenceMs, () => this.#fail(`no data for ${silenceMs / 1000} s`))
    this.#socket.on('connect', () => {
      const settings = toSettings([[settingIds.initialWindowSize, maxWindow]])
      this.#socket.write(
        Buffer.concat([
          Buffer.from(preface),
          settings,
          toWindowUpdate(0, maxWindow - defaultWindow),
        ]),
      )
    })
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#socket.on('error', (error) => this.#fail(error.message))
    this.#socket.on('close', () => this.#fail('it closed the connection'))
  }

  /** Resolves when the server has sent its settings. */
  ready(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isReady) resolve()
      else this.#onReady = resolve
    })
  }

  /** Makes a call, which is sent with the next `flush`. */
  call(startedAtMs: number): void {
    if (this.#held.length > 0 || this.#sendWindow < this.#source.dataLength) {
      this.#held.push(startedAtMs)
    } else {
      this.#write(startedAtMs)
    }
  }

  flush(): void {
    if (this.#used === 0) return
    const bytes = this.#out.subarray(0, this.#used)
    this.#used = 0
    this.#socket.write(bytes)
    // The socket still needs the bytes that it could not send immediately, so they must not be overwritten.
    if (this.#socket.writableLength > 0) this.#out = Buffer.allocUnsafeSlow(outputSize)
  }

  close(): void {
    this.#isClosing = true
    this.#socket.destroy()
  }

  readFrame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void {
    if (type === frameTypes.data) {
      this.#readData(flags, streamId, bytes, start, end)
    } else if (type === frameTypes.headers) {
      if (flags & frameFlags.endStream) this.#finish(streamId)
    } else if (type === frameTypes.windowUpdate) {
      if (streamId === 0) this.#sendWindow += readUint32(bytes, start)
    } else if (type === frameTypes.rstStream) {
      this.#codes[(streamId >>> 1) & (places - 1)] = 0
      this.#finish(streamId)
    } else if (type === frameTypes.settings) {
      if (!(flags & frameFlags.ack)) this.#readSettings(bytes, start, end)
    } else if (type === frameTypes.ping) {
      if (!(flags & frameFlags.ack)) {
        this.#socket.write(toFrame(frameTypes.ping, frameFlags.ack, 0, bytes.slice(start, end)))
      }
    } else if (type === frameTypes.goaway) {
      this.#fail(`it closed the connection with error ${readUint32(bytes, start + 4)}`)
    }
  }

  #read(chunk: Buffer): void {
    this.#readAtMs = performance.now()
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    const used = walkFrames(bytes, this)
    this.#rest = used === bytes.length ? undefined : bytes.subarray(used)
    while (this.#held.length > 0 && this.#sendWindow >= this.#source.dataLength) {
      this.#write(this.#held.shift() ?? 0)
    }
    if (this.#received > windowRefill) {
      this.#socket.write(toWindowUpdate(0, this.#received))
      this.#received = 0
    }
    this.flush()
  }

  #write(startedAtMs: number): void {
    const streamId = this.#nextStreamId
    if (this.#used + this.#source.maxLength > this.#out.length) this.flush()
    this.#startedAt[(streamId >>> 1) & (places - 1)] = startedAtMs
    this.#used = this.#source.write(this.#out, this.#used, streamId, streamId === 1)
    this.#sendWindow -= this.#source.dataLength
    this.#nextStreamId = streamId + 2
  }

  #readData(flags: number, streamId: number, bytes: Uint8Array, start: number, end: number): void {
    this.#received += end - start
    // The overall code is the first field of the message, after the gRPC prefix.
    const code = end - start >= 7 && bytes[start + 5] === 0x08 ? (bytes[start + 6] ?? 0) : 0
    if (code > 0) this.#codes[(streamId >>> 1) & (places - 1)] = code
    if (flags & frameFlags.endStream) this.#finish(streamId)
  }

  #finish(streamId: number): void {
    const place = (streamId >>> 1) & (places - 1)
    const code = this.#codes[place] ?? 0
    this.#codes[place] = 0
    const answer = code === 1 || code === 2 ? code : 0
    this.#listener.answered(this, answer, this.#startedAt[place] ?? 0, this.#readAtMs)
  }

  #readSettings(bytes: Uint8Array, start: number, end: number): void {
    for (let at = start; at < end; at += 6) {
      const value = readUint32(bytes, at + 2)
      if (bytes[at + 1] === settingIds.initialWindowSize && value < this.#source.dataLength) {
        this.#fail(`its window of ${value} bytes is smaller than a request`)
      }
    }
    this.#socket.write(toFrame(frameTypes.settings, frameFlags.ack, 0))
    this.#isReady = true
    this.#onReady()
  }

  #fail(why: string): void {
    if (this.#isClosing) return
    this.close()
    const { host, port } = this.#target
    this.#failed(new Error(`The server at ${host}:${port} failed under load: ${why}`))
  }
}
