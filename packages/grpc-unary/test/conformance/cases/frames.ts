import { flag, frameType, settingId } from '../../../src/http2/frames.ts'
import { frame, headerBlock, settings, uint32 } from '../../support/raw-client.ts'
import {
  accepted,
  answered,
  type Cases,
  cancel,
  completeCall,
  END,
  goaway,
  hello,
  openCall,
  padded,
  priority,
  reset,
  sayBlock,
  WAIT,
  windowUpdate,
} from '../case.ts'

const zeros = (length: number): Buffer => Buffer.alloc(length)
const MAX_WINDOW = 2 ** 31 - 1

/** RFC 9113 6.1 to 6.4. */
const streamFrames: Cases = {
  '6.1: DATA in several frames is accepted': {
    sends: [
      openCall(1),
      frame(frameType.DATA, 0, 1, hello.subarray(0, 4)),
      frame(frameType.DATA, flag.END_STREAM, 1, hello.subarray(4)),
    ],
    expect: answered(1),
  },
  '6.1: DATA with padding is accepted': {
    sends: [
      openCall(1),
      frame(frameType.DATA, flag.PADDED | flag.END_STREAM, 1, padded(hello, 255)),
    ],
    expect: answered(1),
  },
  '6.1: DATA that is all padding is accepted': {
    sends: [
      openCall(1),
      frame(frameType.DATA, flag.PADDED, 1, padded(zeros(0), 9)),
      frame(frameType.DATA, flag.END_STREAM, 1, hello),
    ],
    expect: answered(1),
  },
  '6.1: DATA on stream 0': {
    sends: [frame(frameType.DATA, flag.END_STREAM, 0, hello)],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.1: DATA on a stream that is neither open nor half-closed (local)': {
    sends: [completeCall(1, WAIT), frame(frameType.DATA, flag.END_STREAM, 1, hello)],
    expect: reset(1, 'STREAM_CLOSED'),
  },
  '6.1: padding as long as the frame': {
    sends: [openCall(1), frame(frameType.DATA, flag.PADDED, 1, Buffer.from([3, 0, 0]))],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.1: a padded DATA frame without the length of its padding': {
    sends: [openCall(1), frame(frameType.DATA, flag.PADDED, 1)],
    expect: goaway('PROTOCOL_ERROR', 'FRAME_SIZE_ERROR'),
  },

  '6.2: HEADERS are accepted': { sends: [completeCall(1)], expect: answered(1) },
  '6.2: HEADERS with padding are accepted': {
    sends: [
      frame(frameType.HEADERS, flag.END_HEADERS | flag.PADDED, 1, padded(sayBlock, 8)),
      frame(frameType.DATA, flag.END_STREAM, 1, hello),
    ],
    expect: answered(1),
  },
  '6.2: HEADERS with priority are accepted': {
    sends: [
      frame(
        frameType.HEADERS,
        flag.END_HEADERS | flag.PRIORITY,
        1,
        Buffer.concat([Buffer.from([0, 0, 0, 0, 255]), sayBlock]),
      ),
      frame(frameType.DATA, flag.END_STREAM, 1, hello),
    ],
    expect: answered(1),
  },
  '6.2: incomplete HEADERS, then PRIORITY': {
    sends: [frame(frameType.HEADERS, flag.END_STREAM, 1, sayBlock), priority(1, 0)],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.2: incomplete HEADERS, then HEADERS of another stream': {
    sends: [frame(frameType.HEADERS, 0, 1, sayBlock), openCall(3)],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.2: HEADERS on stream 0': {
    sends: [frame(frameType.HEADERS, END, 0, sayBlock)],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.2: padding longer than the frame': {
    sends: [
      frame(
        frameType.HEADERS,
        END | flag.PADDED,
        1,
        Buffer.concat([Buffer.from([sayBlock.length + 2]), sayBlock]),
      ),
    ],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.2: HEADERS too short for their priority': {
    sends: [frame(frameType.HEADERS, END | flag.PRIORITY, 1, zeros(4))],
    expect: goaway('PROTOCOL_ERROR', 'FRAME_SIZE_ERROR'),
  },

  '6.3: PRIORITY with the least and the most weight, and exclusive, is accepted': {
    sends: [priority(1, 0, 0), priority(1, 0, 255), priority(1, 0, 0, true), completeCall(1)],
    expect: answered(1),
  },
  '6.3: PRIORITY that depends on a future stream is accepted': {
    sends: [priority(3, 1), completeCall(1)],
    expect: answered(1),
  },
  '6.3: PRIORITY of an idle stream does not use up lower identifiers': {
    sends: [priority(5, 3), completeCall(3)],
    expect: answered(3),
  },
  '6.3: PRIORITY on stream 0': { sends: [priority(0, 1)], expect: goaway('PROTOCOL_ERROR') },
  '6.3: PRIORITY of 4 bytes': {
    sends: [openCall(1), frame(frameType.PRIORITY, 0, 1, zeros(4))],
    expect: reset(1, 'FRAME_SIZE_ERROR'),
  },
  '6.3: PRIORITY of 4 bytes for an idle stream, which cannot be reset': {
    sends: [frame(frameType.PRIORITY, 0, 1, zeros(4))],
    expect: goaway('FRAME_SIZE_ERROR'),
  },

  '6.4: RST_STREAM is accepted': { sends: [openCall(1), cancel(1)], expect: accepted },
  '6.4: RST_STREAM on stream 0': { sends: [cancel(0)], expect: goaway('PROTOCOL_ERROR') },
  '6.4: RST_STREAM on an idle stream': { sends: [cancel(1)], expect: goaway('PROTOCOL_ERROR') },
  '6.4: RST_STREAM of 3 bytes': {
    sends: [openCall(1), frame(frameType.RST_STREAM, 0, 1, zeros(3))],
    expect: goaway('FRAME_SIZE_ERROR'),
  },
}

/** RFC 9113 6.5 to 6.8. */
const connectionFrames: Cases = {
  '6.5: SETTINGS are acknowledged': {
    sends: [settings([settingId.MAX_CONCURRENT_STREAMS, 10])],
    expect: (output) => {
      const acks = output.frames.filter(
        ({ type, flags }) => type === frameType.SETTINGS && flags === flag.ACK,
      )
      return acks.length === 2 ? accepted(output) : `${acks.length} acknowledgements`
    },
  },
  '6.5: an acknowledgement with a payload': {
    sends: [frame(frameType.SETTINGS, flag.ACK, 0, zeros(6))],
    expect: goaway('FRAME_SIZE_ERROR'),
  },
  '6.5: SETTINGS on a stream': {
    sends: [frame(frameType.SETTINGS, 0, 1, zeros(6))],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.5: SETTINGS of a length that is not a multiple of 6': {
    sends: [frame(frameType.SETTINGS, 0, 0, zeros(3))],
    expect: goaway('FRAME_SIZE_ERROR'),
  },
  '6.5.2: ENABLE_PUSH other than 0 and 1': {
    sends: [settings([settingId.ENABLE_PUSH, 2])],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.5.2: ENABLE_PUSH of 0 is accepted': {
    sends: [settings([settingId.ENABLE_PUSH, 0]), completeCall(1)],
    expect: answered(1),
  },
  '6.5.2: INITIAL_WINDOW_SIZE over its maximum': {
    sends: [settings([settingId.INITIAL_WINDOW_SIZE, 2 ** 31])],
    expect: goaway('FLOW_CONTROL_ERROR'),
  },
  '6.5.2: MAX_FRAME_SIZE below its first value': {
    sends: [settings([settingId.MAX_FRAME_SIZE, 16_383])],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.5.2: MAX_FRAME_SIZE over its maximum': {
    sends: [settings([settingId.MAX_FRAME_SIZE, 2 ** 24])],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.5.2: unknown settings are ignored': {
    sends: [settings([0xff, 1], [0, 2 ** 32 - 1]), completeCall(1)],
    expect: answered(1),
  },
  '6.5.2: a compression table of any size is accepted': {
    sends: [
      settings([settingId.HEADER_TABLE_SIZE, 2 ** 32 - 1]),
      completeCall(1),
      settings([settingId.HEADER_TABLE_SIZE, 0]),
      completeCall(3),
      settings([settingId.HEADER_TABLE_SIZE, 300]),
      completeCall(5),
      completeCall(7),
    ],
    expect: answered(7),
  },

  '6.6: PUSH_PROMISE of a client': {
    sends: [
      openCall(1),
      frame(frameType.PUSH_PROMISE, flag.END_HEADERS, 1, Buffer.concat([uint32(2), sayBlock])),
    ],
    expect: goaway('PROTOCOL_ERROR'),
  },

  '6.7: PING is answered with the same bytes': {
    sends: [frame(frameType.PING, 0, 0, Buffer.from('h2-bytes'))],
    expect: (output) => {
      const pong = output.frames.find(({ type }) => type === frameType.PING)
      const isRight = pong?.flags === flag.ACK && pong.payload.toString() === 'h2-bytes'
      return isRight ? accepted(output) : 'no answer to PING'
    },
  },
  '6.7: a PING acknowledgement is not answered': {
    sends: [frame(frameType.PING, flag.ACK, 0, Buffer.from('h2-bytes'))],
    expect: (output) =>
      output.frames.some(({ type }) => type === frameType.PING)
        ? 'the answer was answered'
        : accepted(output),
  },
  '6.7: PING on a stream': {
    sends: [frame(frameType.PING, 0, 1, zeros(8))],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.7: PING of 6 bytes': {
    sends: [frame(frameType.PING, 0, 0, zeros(6))],
    expect: goaway('FRAME_SIZE_ERROR'),
  },

  '6.8: GOAWAY does not affect open calls': {
    sends: [
      openCall(1),
      frame(frameType.GOAWAY, 0, 0, zeros(8)),
      frame(frameType.DATA, flag.END_STREAM, 1, hello),
    ],
    expect: answered(1),
  },
  '6.8: GOAWAY on a stream': {
    sends: [frame(frameType.GOAWAY, 0, 1, zeros(8))],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.8: GOAWAY of 7 bytes': {
    sends: [frame(frameType.GOAWAY, 0, 0, zeros(7))],
    expect: goaway('FRAME_SIZE_ERROR'),
  },

  '7: unknown error codes are accepted': {
    sends: [
      openCall(1),
      frame(frameType.RST_STREAM, 0, 1, uint32(0xff)),
      frame(frameType.GOAWAY, 0, 0, Buffer.concat([uint32(0), uint32(0xff)])),
    ],
    expect: accepted,
  },
}

/** RFC 9113 6.9 and 6.10. */
const windowsAndContinuations: Cases = {
  '6.9: WINDOW_UPDATE of 0 on the connection': {
    sends: [windowUpdate(0, 0)],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.9: WINDOW_UPDATE of 0 on a stream': {
    sends: [openCall(1), windowUpdate(1, 0)],
    expect: reset(1, 'PROTOCOL_ERROR'),
  },
  '6.9: WINDOW_UPDATE of 3 bytes': {
    sends: [frame(frameType.WINDOW_UPDATE, 0, 0, zeros(3))],
    expect: goaway('FRAME_SIZE_ERROR'),
  },
  '6.9: the reserved bit of the increment is ignored': {
    sends: [windowUpdate(0, 2 ** 31 + 1), completeCall(1)],
    expect: answered(1),
  },
  '6.9.1: a connection window over 2^31 - 1': {
    sends: [windowUpdate(0, MAX_WINDOW), windowUpdate(0, MAX_WINDOW)],
    expect: goaway('FLOW_CONTROL_ERROR'),
  },
  '6.9.1: a connection window of exactly 2^31 - 1 is accepted': {
    sends: [windowUpdate(0, MAX_WINDOW - 65_535), completeCall(1)],
    expect: answered(1),
  },
  '6.9.1: a stream window over 2^31 - 1': {
    sends: [openCall(1), windowUpdate(1, MAX_WINDOW)],
    expect: reset(1, 'FLOW_CONTROL_ERROR'),
  },
  '6.9.2: an initial window that lifts a stream over 2^31 - 1': {
    sends: [
      openCall(1),
      windowUpdate(1, MAX_WINDOW - 65_535),
      settings([settingId.INITIAL_WINDOW_SIZE, 65_536]),
    ],
    expect: goaway('FLOW_CONTROL_ERROR'),
  },

  '6.10: one CONTINUATION is accepted': {
    sends: [
      frame(frameType.HEADERS, 0, 1, sayBlock.subarray(0, 5)),
      frame(frameType.CONTINUATION, flag.END_HEADERS, 1, sayBlock.subarray(5)),
      frame(frameType.DATA, flag.END_STREAM, 1, hello),
    ],
    expect: answered(1),
  },
  '6.10: several, some of them empty, are accepted': {
    sends: [
      frame(frameType.HEADERS, 0, 1),
      frame(frameType.CONTINUATION, 0, 1, sayBlock.subarray(0, 10)),
      frame(frameType.CONTINUATION, 0, 1),
      frame(frameType.CONTINUATION, flag.END_HEADERS, 1, sayBlock.subarray(10)),
      frame(frameType.DATA, flag.END_STREAM, 1, hello),
    ],
    expect: answered(1),
  },
  '6.10: trailers may be continued too': {
    sends: [
      openCall(1),
      frame(frameType.DATA, 0, 1, hello),
      frame(frameType.HEADERS, flag.END_STREAM, 1, headerBlock({ a: '1' })),
      frame(frameType.CONTINUATION, flag.END_HEADERS, 1, headerBlock({ b: '2' })),
    ],
    expect: answered(1),
  },
  '6.10: CONTINUATION, then another frame': {
    sends: [
      frame(frameType.HEADERS, 0, 1, sayBlock),
      frame(frameType.CONTINUATION, 0, 1),
      frame(frameType.DATA, flag.END_STREAM, 1, hello),
    ],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.10: CONTINUATION on stream 0': {
    sends: [frame(frameType.HEADERS, 0, 1, sayBlock), frame(frameType.CONTINUATION, 4, 0)],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.10: CONTINUATION on another stream': {
    sends: [frame(frameType.HEADERS, 0, 1, sayBlock), frame(frameType.CONTINUATION, 4, 3)],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.10: CONTINUATION after complete HEADERS': {
    sends: [openCall(1), frame(frameType.CONTINUATION, flag.END_HEADERS, 1, sayBlock)],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.10: CONTINUATION after the last CONTINUATION': {
    sends: [
      frame(frameType.HEADERS, 0, 1, sayBlock.subarray(0, 5)),
      frame(frameType.CONTINUATION, flag.END_HEADERS, 1, sayBlock.subarray(5)),
      frame(frameType.CONTINUATION, flag.END_HEADERS, 1),
    ],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '6.10: CONTINUATION after DATA': {
    sends: [
      openCall(1),
      frame(frameType.DATA, 0, 1, hello),
      frame(frameType.CONTINUATION, flag.END_HEADERS, 1, sayBlock),
    ],
    expect: goaway('PROTOCOL_ERROR'),
  },
}

export const frames: Cases = { ...streamFrames, ...connectionFrames, ...windowsAndContinuations }
