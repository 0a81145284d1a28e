import { flag, frameType, PREFACE, settingId } from '../src/http2/frames.ts'
import { frame, grpcMessage, settings, uint32 } from '../test/support/raw-client.ts'
import { type Field, HpackEncoder } from './hpack-encoder.ts'
import { paths } from './methods.ts'
import type { Random } from './random.ts'

/** One request of a session. */
export interface Request {
  readonly method: string
  readonly path: (typeof paths)[number]
  readonly isGrpc: boolean
  /** The message with its prefix; undefined if the request has no body. */
  readonly message: Buffer | undefined
  /** Whether the whole request was sent and not cancelled. */
  isComplete: boolean
}

/** What a valid client sends on one connection: its preface, then frames. */
export interface Session {
  readonly frames: readonly Buffer[]
  readonly requests: ReadonlyMap<number, Request>
  /** The total number of bytes that it allows the server to send on the connection. */
  readonly connectionWindow: number
  /** The same for each stream. */
  readonly streamWindows: ReadonlyMap<number, StreamWindow>
}

/** The bytes that a stream may send: at the end of the session, and the maximum at any time. */
export interface StreamWindow {
  last: number
  most: number
}

const HEADER_TABLE_SIZE = 4096

const initialWindows = [0, 1, 7, 100, 16_384, 65_535, 1 << 20] as const

const extraFields: readonly [Field, ...Field[]] = [
  ['user-agent', 'fuzzer/1.0'],
  ['grpc-accept-encoding', 'identity,deflate,gzip'],
  ['grpc-encoding', 'identity'],
  ['grpc-timeout', '30S'],
  ['x-long', 'v'.repeat(300)],
  ['x-bytes-bin', 'AAECAwQF/+8'],
  ['x-high', '\u00e9\u00ff'],
  ['x-empty', ''],
  ['cookie', 'a=b; c=d'],
]

/** Creates calls in all their forms, several at a time, with control frames between them. */
export function createSession(random: Random): Session {
  return new SessionWriter(random).write()
}

/** The frames that a stream still has to send; each is created when it is sent. */
type Upload = (() => Buffer)[]

class SessionWriter {
  readonly #random: Random
  readonly #frames: Buffer[] = [PREFACE]
  readonly #encoder = new HpackEncoder(HEADER_TABLE_SIZE)
  readonly #requests = new Map<number, Request>()
  readonly #uploads = new Map<number, Upload>()
  readonly #windows = new Map<number, StreamWindow>()
  /** Whether the messages are longer than the connection window. */
  readonly #isLong: boolean
  /** Whether header blocks repeat, as with most clients. */
  readonly #isSteady: boolean
  #initialWindow: number
  #lastId = 0
  #connectionWindow = 65_535

  constructor(random: Random) {
    this.#random = random
    this.#isLong = random.oneIn(24)
    this.#isSteady = random.oneIn(4)
    this.#initialWindow = this.#isLong ? 1 << 20 : random.pick(initialWindows)
  }

  write(): Session {
    const random = this.#random
    this.#frames.push(this.#settings(this.#initialWindow))
    const maxSteps = this.#isSteady ? 24 : 10
    for (let steps = random.between(1, maxSteps); steps > 0; steps--) this.#step()
    while (this.#uploads.size > 0 && !random.oneIn(40)) this.#goOn()
    for (let count = this.#isLong ? 3 : 0; count > 0; count--) this.#frames.push(this.#credit(0))
    if (random.oneIn(8)) this.#frames.push(frame(frameType.GOAWAY, 0, 0, Buffer.alloc(8)))
    return {
      frames: this.#frames,
      requests: this.#requests,
      connectionWindow: this.#connectionWindow,
      streamWindows: this.#windows,
    }
  }

  #step(): void {
    const random = this.#random
    if (random.oneIn(3)) this.#open()
    else if (random.oneIn(2)) this.#goOn()
    else this.#frames.push(this.#control())
  }

  #open(): void {
    const random = this.#random
    const id = this.#lastId === 0 ? 1 : this.#lastId + (random.oneIn(8) ? 4 : 2)
    this.#lastId = id
    const text = 'm'.repeat(random.below(this.#isLong ? 60_000 : 99))
    const request: Request = {
      method: !this.#isSteady && random.oneIn(16) ? 'GET' : 'POST',
      path: this.#choosePath(),
      isGrpc: this.#isSteady || !random.oneIn(16),
      message: random.oneIn(16) ? undefined : grpcMessage(text),
      isComplete: false,
    }
    this.#requests.set(id, request)
    this.#windows.set(id, { last: this.#initialWindow, most: this.#initialWindow })
    const { message } = request
    this.#frames.push(this.#block(id, this.#fieldsOf(request), message === undefined))
    if (message === undefined) request.isComplete = true
    else this.#uploads.set(id, this.#body(id, message, random.oneIn(8)))
  }

  #choosePath(): Request['path'] {
    const random = this.#random
    if (this.#isLong && !random.oneIn(4)) return '/fuzz.Echo/Say'
    return this.#isSteady ? random.pick(['/fuzz.Echo/Say', '/fuzz.Echo/Fail']) : random.pick(paths)
  }

  #fieldsOf({ method, path, isGrpc, message }: Request): Field[] {
    const random = this.#random
    const fields: Field[] = [
      [':method', method],
      [':scheme', this.#isSteady || random.oneIn(2) ? 'http' : 'https'],
      [':path', path],
      [':authority', 'fuzz.test'],
      ['te', 'trailers'],
    ]
    if (isGrpc) fields.push(['content-type', 'application/grpc'])
    if (this.#isSteady) return fields
    if (random.oneIn(4)) fields.push(['content-length', String(message?.length ?? 0)])
    for (let count = random.below(4); count > 0; count--) fields.push(random.pick(extraFields))
    return fields
  }

  #body(id: number, message: Buffer, hasTrailers: boolean): Upload {
    const random = this.#random
    const upload: Upload = []
    for (let at = 0; at < message.length; ) {
      const size = Math.min(16_000, random.oneIn(4) ? 1 + random.below(9) : message.length - at)
      const part = message.subarray(at, at + size)
      at += size
      const isLast = at >= message.length && !hasTrailers
      upload.push(() => this.#padded(frameType.DATA, isLast ? flag.END_STREAM : 0, id, part))
    }
    if (hasTrailers) upload.push(() => this.#block(id, [['x-checksum', 'abc']], true))
    return upload
  }

  /** Sends one more frame of a random stream, or cancels the stream. */
  #goOn(): void {
    const random = this.#random
    const ids = [...this.#uploads.keys()]
    const id = ids[random.below(Math.max(1, ids.length))]
    if (id === undefined) return
    const upload = this.#uploads.get(id) ?? []
    const next = random.oneIn(30) ? undefined : upload.shift()
    this.#frames.push(next?.() ?? frame(frameType.RST_STREAM, 0, id, uint32(8)))
    if (next !== undefined && upload.length > 0) return
    this.#uploads.delete(id)
    const request = this.#requests.get(id)
    if (request) request.isComplete = next !== undefined
  }

  /** HEADERS and its CONTINUATION frames, between which no other frame is allowed. */
  #block(id: number, fields: readonly Field[], isLast: boolean): Buffer {
    const random = this.#random
    const block = this.#isSteady
      ? this.#encoder.encodeSteadily(fields)
      : this.#encoder.encode(fields, random)
    const end = isLast ? flag.END_STREAM : 0
    if (!random.oneIn(4)) return this.#padded(frameType.HEADERS, flag.END_HEADERS | end, id, block)
    const first = random.below(block.length)
    const second = random.between(first, block.length)
    return Buffer.concat([
      this.#padded(frameType.HEADERS, end, id, block.subarray(0, first)),
      frame(frameType.CONTINUATION, 0, id, block.subarray(first, second)),
      frame(frameType.CONTINUATION, flag.END_HEADERS, id, block.subarray(second)),
    ])
  }

  #padded(type: number, flags: number, id: number, payload: Buffer): Buffer {
    const random = this.#random
    const parts = [payload]
    let all = flags
    if (type === frameType.HEADERS && random.oneIn(8)) {
      all |= flag.PRIORITY
      parts.unshift(Buffer.from([0, 0, 0, 0, 15]))
    }
    if (random.oneIn(8)) {
      const padding = random.below(200)
      all |= flag.PADDED
      parts.unshift(Buffer.from([padding]))
      parts.push(Buffer.alloc(padding))
    }
    return frame(type, all, id, Buffer.concat(parts))
  }

  #control(): Buffer {
    const random = this.#random
    switch (random.below(6)) {
      case 0:
        return frame(frameType.PING, random.oneIn(4) ? flag.ACK : 0, 0, Buffer.from('8 bytes!'))
      case 1:
        return this.#settings(random.oneIn(4) ? random.pick(initialWindows) : this.#initialWindow)
      case 2:
        return this.#credit(0)
      case 3:
        return this.#lastId === 0 ? settings() : this.#credit(this.#lastId)
      case 4:
        return frame(frameType.PRIORITY, 0, this.#lastId + 2, Buffer.from([0, 0, 0, 0, 15]))
      default:
        return frame(random.between(10, 255), random.below(256), random.below(9), Buffer.alloc(3))
    }
  }

  #credit(id: number): Buffer {
    const random = this.#random
    const credit = random.between(1, random.oneIn(2) ? 20 : 20_000)
    if (id === 0) this.#connectionWindow += credit
    else this.#moveWindow(id, credit)
    return frame(frameType.WINDOW_UPDATE, 0, id, uint32(credit))
  }

  #moveWindow(id: number, change: number): void {
    const window = this.#windows.get(id)
    if (window === undefined) return
    window.last += change
    window.most = Math.max(window.most, window.last)
  }

  #settings(window: number): Buffer {
    const random = this.#random
    for (const id of this.#windows.keys()) this.#moveWindow(id, window - this.#initialWindow)
    this.#initialWindow = window
    return settings(
      [settingId.INITIAL_WINDOW_SIZE, window],
      [settingId.HEADER_TABLE_SIZE, random.pick([0, 100, 300, 4096, 65_536])],
      [settingId.MAX_FRAME_SIZE, 16_384 + random.below(1000)],
      [random.between(7, 60_000), random.bits() >>> 0],
    )
  }
}
