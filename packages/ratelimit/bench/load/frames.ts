// The part of HTTP/2 framing (RFC 9113, section 4) that a load generator needs.

export const frameTypes = {
  data: 0,
  headers: 1,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
} as const

export const frameFlags = { endStream: 1, ack: 1, endHeaders: 4 } as const

export const frameHeaderLength = 9

export interface FrameReader {
  /** Receives a complete frame; its payload is `bytes` from `start` to `end`. */
  readFrame(
    type: number,
    flags: number,
    streamId: number,
    bytes: Uint8Array,
    start: number,
    end: number,
  ): void
}

/** Passes every complete frame to the reader, and returns their total length. */
export function walkFrames(bytes: Uint8Array, reader: FrameReader): number {
  let at = 0
  while (at + frameHeaderLength <= bytes.length) {
    const length = readUint24(bytes, at)
    const start = at + frameHeaderLength
    const end = start + length
    if (end > bytes.length) break
    const streamId = readUint32(bytes, at + 5) & 0x7fff_ffff
    reader.readFrame(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, streamId, bytes, start, end)
    at = end
  }
  return at
}

function readUint24(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 24) | readUint24(bytes, at + 1)) >>> 0
}

export function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

export function toFrame(
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array = new Uint8Array(),
): Uint8Array {
  const frame = new Uint8Array(frameHeaderLength + payload.length)
  frame[0] = payload.length >>> 16
  frame[1] = payload.length >>> 8
  frame[2] = payload.length
  frame[3] = type
  frame[4] = flags
  writeUint32(frame, 5, streamId)
  frame.set(payload, frameHeaderLength)
  return frame
}

export const settingIds = { maxConcurrentStreams: 3, initialWindowSize: 4 } as const

export function toSettings(values: readonly (readonly [id: number, value: number])[]): Uint8Array {
  const payload = new Uint8Array(values.length * 6)
  values.forEach(([id, value], index) => {
    payload[index * 6 + 1] = id
    writeUint32(payload, index * 6 + 2, value)
  })
  return toFrame(frameTypes.settings, 0, 0, payload)
}

export function toWindowUpdate(streamId: number, increment: number): Uint8Array {
  const payload = new Uint8Array(4)
  writeUint32(payload, 0, increment)
  return toFrame(frameTypes.windowUpdate, 0, streamId, payload)
}
