import { uint16At, uint32At } from '../bytes.ts'
import type { Limits } from '../limits.ts'
import type { FrameConnection } from './frame-connection.ts'
import {
  DEFAULT_WINDOW,
  type ErrorCode,
  errorCode,
  frameType,
  MAX_WINDOW,
  settingId,
  toNumberFrame,
  toSettingsFrame,
} from './frames.ts'

/** The table size for decoding: the default, so that it need not be sent (RFC 9113 6.5.2). */
export const HEADER_TABLE_SIZE = 4096

/** How much a client may send on one stream before it is credited; most calls never need more. */
export const STREAM_WINDOW = 2 ** 20

export const CONNECTION_WINDOW = 16 * 2 ** 20

const SETTING_SIZE = 6

/** Our preface: SETTINGS, then the larger connection window, for which there is no setting. */
export function openingFrames(limits: Limits): Buffer {
  return Buffer.concat([
    toSettingsFrame([
      [settingId.MAX_CONCURRENT_STREAMS, limits.concurrentStreams],
      [settingId.INITIAL_WINDOW_SIZE, STREAM_WINDOW],
      [settingId.MAX_HEADER_LIST_SIZE, limits.headerListBytes],
    ]),
    toNumberFrame(frameType.WINDOW_UPDATE, 0, CONNECTION_WINDOW - DEFAULT_WINDOW),
  ])
}

/** Applies one value of the peer, or returns an error code. */
type SettingHandler = (connection: FrameConnection, value: number) => ErrorCode

const settingHandlers: Readonly<Record<number, SettingHandler>> = {
  [settingId.HEADER_TABLE_SIZE](connection, value) {
    connection.encoder.setTableSize(value)
    return errorCode.NO_ERROR
  },

  // The server never pushes, so the value has no effect.
  [settingId.ENABLE_PUSH](_connection, value) {
    return value <= 1 ? errorCode.NO_ERROR : errorCode.PROTOCOL_ERROR
  },

  [settingId.INITIAL_WINDOW_SIZE](connection, value) {
    if (value > MAX_WINDOW) return errorCode.FLOW_CONTROL_ERROR
    connection.sendFlow.nextInitialWindow = value
    return errorCode.NO_ERROR
  },

  // Our frames are never larger than the smallest allowed value.
  [settingId.MAX_FRAME_SIZE](_connection, value) {
    return value >= 16_384 && value < 2 ** 24 ? errorCode.NO_ERROR : errorCode.PROTOCOL_ERROR
  },
}

/** Applies the payload of a SETTINGS frame in order; unknown settings are ignored. */
export function applySettings(
  connection: FrameConnection,
  bytes: Buffer,
  start: number,
  end: number,
): ErrorCode {
  for (let at = start; at < end; at += SETTING_SIZE) {
    const handle = settingHandlers[uint16At(bytes, at)]
    const code = handle?.(connection, uint32At(bytes, at + 2)) ?? errorCode.NO_ERROR
    if (code !== errorCode.NO_ERROR) return code
  }
  // The last of several initial windows applies. Updating every stream for each of the 2730 values
  // that a frame can contain would block the server for a tenth of a second.
  const { sendFlow, streams } = connection
  const fits = sendFlow.takeInitialWindow(streams.all())
  return fits ? errorCode.NO_ERROR : errorCode.FLOW_CONTROL_ERROR
}
