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

/** For decoding: the default, so that the peer need not be told (RFC 9113 6.5.2). */
export const HEADER_TABLE_SIZE = 4096

/** What a client may send on one stream before it is credited; most calls never need that. */
export const STREAM_WINDOW = 2 ** 20

export const CONNECTION_WINDOW = 16 * 2 ** 20

const SETTING_SIZE = 6

/** Our preface: SETTINGS, then the larger connection window, which has no setting of its own. */
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

/** Takes one value of the peer, or returns the error that it is. */
type SettingHandler = (connection: FrameConnection, value: number) => ErrorCode

const settingHandlers: Readonly<Record<number, SettingHandler>> = {
  [settingId.HEADER_TABLE_SIZE](connection, value) {
    connection.encoder.setTableSize(value)
    return errorCode.NO_ERROR
  },

  // We never push, so there is nothing to switch.
  [settingId.ENABLE_PUSH](_connection, value) {
    return value <= 1 ? errorCode.NO_ERROR : errorCode.PROTOCOL_ERROR
  },

  [settingId.INITIAL_WINDOW_SIZE](connection, value) {
    if (value > MAX_WINDOW) return errorCode.FLOW_CONTROL_ERROR
    connection.sendFlow.nextInitialWindow = value
    return errorCode.NO_ERROR
  },

  // Our frames are never larger than the smallest value allowed.
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
  // The last of several initial windows counts. To move every stream for each of the 2730 that a
  // frame can hold would keep the server busy for a tenth of a second.
  const { sendFlow, streams } = connection
  const fits = sendFlow.takeInitialWindow(streams.all())
  return fits ? errorCode.NO_ERROR : errorCode.FLOW_CONTROL_ERROR
}
