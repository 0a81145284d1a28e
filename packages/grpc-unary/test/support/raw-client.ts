import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { HpackDecoder } from '../../src/hpack/decoder.ts'
import { flag, frameType, PREFACE, putFrameHeader } from '../../src/http2/frames.ts'

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly id: number
  readonly payload: Buffer
  /** The fields of HEADERS, decoded in order of arrival. */
  readonly fields?: Readonly<Record<string, string>>
}

export function frame(
  type: number,
  flags: number,
  id: number,
  payload: Uint8Array = Buffer.alloc(0),
) {
  const bytes = Buffer.alloc(9 + payload.length)
  putFrameHeader(bytes, 0, payload.length, type, flags, id)
  bytes.set(payload, 9)
  return bytes
}

/** Encodes each field as a literal without indexing, so that a block does not depend on a table. */
export function headerBlock(fields: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = []
  for (const [name, value] of Object.entries(fields)) {
    parts.push(Buffer.from([0]), toLiteral(name), toLiteral(value))
  }
  return Buffer.concat(parts)
}

function toLiteral(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const length = [127]
  let rest = bytes.length - 127
  for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}

export function requestFields(path: string): Record<string, string> {
  return {
    ':method': 'POST',
    ':scheme': 'http',
    ':path': path,
    ':authority': 'test',
    'content-type': 'application/grpc',
    te: 'trailers',
  }
}

export function grpcMessage(content: string | Uint8Array): Buffer {
  const message = typeof content === 'string' ? Buffer.from(content) : content
  const bytes = Buffer.alloc(5 + message.length)
  bytes.writeUInt32BE(message.length, 1)
  bytes.set(message, 5)
  return bytes
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export function settings(...values: (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(values.length * 6)
  for (const [index, [id, value]] of values.entries()) {
    payload.writeUInt16BE(id, index * 6)
    payload.writeUInt32BE(value, index * 6 + 2)
  }
  return frame(frameType.SETTINGS, 0, 0, payload)
}

/** HEADERS and DATA of one unary call. */
export function unaryCall(id: number, path: string, message: string): Buffer {
  return Buffer.concat([
    frame(frameType.HEADERS, flag.END_HEADERS, id, headerBlock(requestFields(path))),
    frame(frameType.DATA, flag.END_STREAM, id, grpcMessage(message)),
  ])
}

/** A client that sends exactly the given bytes, and returns the frames of the server. */
export class RawClient implements Disposable {
  readonly socket: Socket
  readonly frames: Frame[] = []
  isEnded = false
  readonly #decoder = new HpackDecoder(4096, 1 << 20)
  #rest: Buffer = Buffer.alloc(0)
  #wake: () => void = () => {}

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isEnded = true
      this.#wake()
    })
  }

  /** Connects and sends the preface with the given SETTINGS. */
  static async open(port: number, firstFrames: Buffer = settings()): Promise<RawClient> {
    const client = await RawClient.connect(port)
    client.send(PREFACE, firstFrames)
    return client
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return new RawClient(socket)
  }

  send(...parts: Uint8Array[]): void {
    this.socket.write(Buffer.concat(parts))
  }

  /** The first matching frame that was not returned yet; rejects if the connection ends first. */
  async next(matches: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const index = this.frames.findIndex(matches)
      if (index >= 0) {
        const [found] = this.frames.splice(index, 1)
        if (found) return found
      }
      if (this.isEnded) throw new Error('the connection ended before such a frame was received')
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  async nextOf(type: number, id?: number): Promise<Frame> {
    return await this.next((frame) => frame.type === type && (id === undefined || frame.id === id))
  }

  /** The fields of the next header block on this stream. */
  async headers(id: number): Promise<Readonly<Record<string, string>>> {
    const { fields } = await this.nextOf(frameType.HEADERS, id)
    if (fields === undefined) throw new Error('the server sent a broken header block')
    return fields
  }

  /** The error code of the GOAWAY that ends the connection, and its reason. */
  async goaway(): Promise<{ lastId: number; code: number; reason: string }> {
    const { payload } = await this.nextOf(frameType.GOAWAY)
    return {
      lastId: payload.readUInt32BE(0),
      code: payload.readUInt32BE(4),
      reason: payload.toString('utf8', 8),
    }
  }

  async ended(): Promise<void> {
    while (!this.isEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    for (;;) {
      if (this.#rest.length < 9) break
      const size = 9 + this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < size) break
      const type = this.#rest.readUInt8(3)
      const payload = this.#rest.subarray(9, size)
      const fields = type === frameType.HEADERS ? this.#decode(payload) : undefined
      this.frames.push({
        type,
        flags: this.#rest.readUInt8(4),
        id: this.#rest.readUInt32BE(5) & 0x7fffffff,
        payload,
        ...(fields && { fields }),
      })
      this.#rest = this.#rest.subarray(size)
    }
    this.#wake()
  }

  #decode(block: Buffer): Record<string, string> | undefined {
    const fields = this.#decoder.decode(block, 0, block.length)
    return fields && Object.fromEntries(fields.map(({ name, value }) => [name, value]))
  }
}
