import { uint31At } from '../bytes.ts'
import { flood } from './flood-meter.ts'
import type { FrameConnection } from './frame-connection.ts'
import {
  errorCode,
  flag,
  frameType,
  MAX_WINDOW,
  toPingFrame,
  toSettingsAckFrame,
} from './frames.ts'
import { applySettings } from './settings.ts'

type FrameHandler = (
  connection: FrameConnection,
  flags: number,
  id: number,
  bytes: Buffer,
  start: number,
  end: number,
) => void

/** The handlers of frames that are not part of a request (RFC 9113 6.3 to 6.10). */
export const controlFrames: readonly (FrameHandler | undefined)[] = toTable({
  /** Priorities are deprecated (RFC 9113 5.3.2): they are checked and ignored. */
  [frameType.PRIORITY](connection, _flags, id, bytes, start, end) {
    if (id === 0) {
      connection.close(errorCode.PROTOCOL_ERROR, 'PRIORITY on stream 0')
    } else if (end - start !== 5) {
      connection.streamError(id, errorCode.FRAME_SIZE_ERROR)
    } else if (uint31At(bytes, start) === id) {
      connection.streamError(id, errorCode.PROTOCOL_ERROR)
    } else {
      connection.overLimit(flood.priority)
    }
  },

  [frameType.RST_STREAM](connection, _flags, id, _bytes, start, end) {
    if (end - start !== 4) {
      connection.close(errorCode.FRAME_SIZE_ERROR, 'RST_STREAM must have 4 bytes')
      return
    }
    const stream = connection.streams.find(id)
    if (stream !== undefined) {
      connection.cancel(stream)
    } else if (id === 0 || connection.streams.absence(id) === 'idle') {
      connection.close(errorCode.PROTOCOL_ERROR, 'RST_STREAM on an idle stream')
    } else {
      connection.overLimit(flood.lateReset)
    }
  },

  [frameType.SETTINGS](connection, flags, id, bytes, start, end) {
    const isAck = (flags & flag.ACK) !== 0
    if (id !== 0) {
      connection.close(errorCode.PROTOCOL_ERROR, 'SETTINGS on a stream')
    } else if ((end - start) % 6 !== 0 || (isAck && start !== end)) {
      connection.close(errorCode.FRAME_SIZE_ERROR, 'SETTINGS has an invalid length')
    } else if (!connection.overLimit(flood.settings) && !isAck) {
      const code = applySettings(connection, bytes, start, end)
      if (code !== errorCode.NO_ERROR) {
        connection.close(code, 'SETTINGS with a value that is not allowed')
        return
      }
      connection.output.append(toSettingsAckFrame())
      connection.sendFlow.releaseAll()
    }
  },

  [frameType.PUSH_PROMISE](connection) {
    connection.close(errorCode.PROTOCOL_ERROR, 'a client cannot push')
  },

  [frameType.PING](connection, flags, id, bytes, start, end) {
    if (id !== 0) {
      connection.close(errorCode.PROTOCOL_ERROR, 'PING on a stream')
    } else if (end - start !== 8) {
      connection.close(errorCode.FRAME_SIZE_ERROR, 'PING must have 8 bytes')
    } else if (connection.overLimit(flood.ping)) {
      return
    } else if ((flags & flag.ACK) !== 0) {
      connection.drain.pingAcknowledged(bytes, start)
    } else {
      connection.output.append(toPingFrame(bytes, start, true))
    }
  },

  /** The client opens no more streams and will close the connection; until then calls continue. */
  [frameType.GOAWAY](connection, _flags, id, _bytes, start, end) {
    if (id !== 0) connection.close(errorCode.PROTOCOL_ERROR, 'GOAWAY on a stream')
    else if (end - start < 8) connection.close(errorCode.FRAME_SIZE_ERROR, 'GOAWAY is too short')
    else connection.overLimit(flood.stray)
  },

  [frameType.WINDOW_UPDATE](connection, _flags, id, bytes, start, end) {
    if (end - start !== 4) {
      connection.close(errorCode.FRAME_SIZE_ERROR, 'WINDOW_UPDATE must have 4 bytes')
    } else if (!connection.overLimit(flood.windowUpdate)) {
      widenWindow(connection, id, uint31At(bytes, start))
    }
  },

  /** A CONTINUATION that follows HEADERS is handled by `RequestFrames` instead. */
  [frameType.CONTINUATION](connection) {
    connection.close(errorCode.PROTOCOL_ERROR, 'CONTINUATION without HEADERS')
  },
})

function widenWindow(connection: FrameConnection, id: number, increment: number): void {
  const { sendFlow, streams } = connection
  if (id === 0) {
    const wasUsedUp = sendFlow.window <= 0
    if (increment === 0) {
      connection.close(errorCode.PROTOCOL_ERROR, 'WINDOW_UPDATE of 0')
    } else if (!sendFlow.widen(increment)) {
      connection.close(errorCode.FLOW_CONTROL_ERROR, 'the connection window exceeds its maximum')
    } else if (wasUsedUp) {
      // Otherwise no stream waits for this window.
      sendFlow.releaseAll()
    }
    return
  }
  const stream = streams.find(id)
  if (stream === undefined) {
    if (streams.absence(id) === 'idle') {
      connection.close(errorCode.PROTOCOL_ERROR, 'WINDOW_UPDATE on an idle stream')
    }
  } else if (increment === 0) {
    connection.streamError(id, errorCode.PROTOCOL_ERROR)
  } else if (stream.sendWindow + increment > MAX_WINDOW) {
    connection.streamError(id, errorCode.FLOW_CONTROL_ERROR)
  } else {
    stream.sendWindow += increment
    sendFlow.release(stream)
  }
}

/** Indexed by frame type, so that a lookup is an array access. */
function toTable(handlers: Readonly<Record<number, FrameHandler>>): (FrameHandler | undefined)[] {
  const table: (FrameHandler | undefined)[] = []
  for (let type = 0; type <= frameType.CONTINUATION; type++) table.push(handlers[type])
  return table
}
