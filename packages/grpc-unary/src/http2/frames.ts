import { byteAt, putUint16, putUint32 } from '../bytes.ts'

/** RFC 9113 sections 4, 6, 6.5.2 and 7. */

export const FRAME_HEADER_SIZE = 9

/** The largest payload that this end accepts: the default value of the setting. */
export const MAX_FRAME_SIZE = 16_384

export const DEFAULT_WINDOW = 65_535

export const MAX_WINDOW = 2 ** 31 - 1

export const MAX_STREAM_ID = 2 ** 31 - 1

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

export const frameType = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const

export const flag = {
  ACK: 0x1,
  END_STREAM: 0x1,
  END_HEADERS: 0x4,
  PADDED: 0x8,
  PRIORITY: 0x20,
} as const

export const errorCode = {
  NO_ERROR: 0,
  PROTOCOL_ERROR: 1,
  INTERNAL_ERROR: 2,
  FLOW_CONTROL_ERROR: 3,
  SETTINGS_TIMEOUT: 4,
  STREAM_CLOSED: 5,
  FRAME_SIZE_ERROR: 6,
  REFUSED_STREAM: 7,
  CANCEL: 8,
  COMPRESSION_ERROR: 9,
  CONNECT_ERROR: 10,
  ENHANCE_YOUR_CALM: 11,
  INADEQUATE_SECURITY: 12,
  HTTP_1_1_REQUIRED: 13,
} as const

export type ErrorCode = (typeof errorCode)[keyof typeof errorCode]

export const settingId = {
  HEADER_TABLE_SIZE: 1,
  ENABLE_PUSH: 2,
  MAX_CONCURRENT_STREAMS: 3,
  INITIAL_WINDOW_SIZE: 4,
  MAX_FRAME_SIZE: 5,
  MAX_HEADER_LIST_SIZE: 6,
} as const

/** Returns the offset of the payload. */
export function putFrameHeader(
  bytes: Uint8Array,
  at: number,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): number {
  bytes[at] = length >>> 16
  bytes[at + 1] = length >>> 8
  bytes[at + 2] = length
  bytes[at + 3] = type
  bytes[at + 4] = flags
  putUint32(bytes, at + 5, streamId)
  return at + FRAME_HEADER_SIZE
}

/** A frame without flags whose payload is one 32-bit number: RST_STREAM and WINDOW_UPDATE. */
export function toNumberFrame(type: number, streamId: number, value: number): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_SIZE + 4)
  putUint32(frame, putFrameHeader(frame, 0, 4, type, 0, streamId), value)
  return frame
}

export function toSettingsFrame(
  settings: readonly (readonly [id: number, value: number])[],
): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_SIZE + settings.length * 6)
  let at = putFrameHeader(frame, 0, settings.length * 6, frameType.SETTINGS, 0, 0)
  for (const [id, value] of settings) {
    putUint16(frame, at, id)
    putUint32(frame, at + 2, value)
    at += 6
  }
  return frame
}

export function toSettingsAckFrame(): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_SIZE)
  putFrameHeader(frame, 0, 0, frameType.SETTINGS, flag.ACK, 0)
  return frame
}

/** @param opaque eight bytes from `at`. */
export function toPingFrame(opaque: Uint8Array, at: number, isAck: boolean): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_SIZE + 8)
  const payload = putFrameHeader(frame, 0, 8, frameType.PING, isAck ? flag.ACK : 0, 0)
  for (let i = 0; i < 8; i++) frame[payload + i] = byteAt(opaque, at + i)
  return frame
}

export function toGoawayFrame(lastStreamId: number, code: ErrorCode, reason: string): Buffer {
  const text = Buffer.from(reason)
  const frame = Buffer.allocUnsafe(FRAME_HEADER_SIZE + 8 + text.length)
  const payload = putFrameHeader(frame, 0, 8 + text.length, frameType.GOAWAY, 0, 0)
  putUint32(frame, payload, lastStreamId)
  putUint32(frame, payload + 4, code)
  text.copy(frame, payload + 8)
  return frame
}
