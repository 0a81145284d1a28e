import { flag, frameType, settingId } from '../../../src/http2/frames.ts'
import { frame, headerBlock, requestFields, settings } from '../../support/raw-client.ts'
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
  priority,
  reset,
  SAY,
  sayBlock,
  sentData,
  WAIT,
  windowUpdate,
} from '../case.ts'

const noWindow = settings([settingId.INITIAL_WINDOW_SIZE, 0])
const trailers = frame(frameType.HEADERS, END, 1, headerBlock({ 'x-trailer': '1' }))
const data = frame(frameType.DATA, flag.END_STREAM, 1, hello)
const continuation = frame(frameType.CONTINUATION, flag.END_HEADERS, 1, sayBlock)

/** RFC 9113 section 5: streams. */
export const streams: Cases = {
  '5.1 idle: PRIORITY is accepted': {
    sends: [priority(1, 0), completeCall(1)],
    expect: answered(1),
  },
  '5.1 idle: DATA': { sends: [data], expect: goaway('PROTOCOL_ERROR') },
  '5.1 idle: RST_STREAM': { sends: [cancel(1)], expect: goaway('PROTOCOL_ERROR') },
  '5.1 idle: WINDOW_UPDATE': { sends: [windowUpdate(1, 100)], expect: goaway('PROTOCOL_ERROR') },
  '5.1 idle: CONTINUATION': { sends: [continuation], expect: goaway('PROTOCOL_ERROR') },

  '5.1 half-closed (remote): WINDOW_UPDATE is accepted': {
    sends: [noWindow, completeCall(1), windowUpdate(1, 1)],
    expect: sentData(1, 1),
  },
  '5.1 half-closed (remote): PRIORITY is accepted': {
    sends: [noWindow, completeCall(1), priority(1, 0), windowUpdate(1, 1)],
    expect: sentData(1, 1),
  },
  '5.1 half-closed (remote): RST_STREAM is accepted': {
    sends: [completeCall(1, WAIT), cancel(1)],
    expect: accepted,
  },
  '5.1 half-closed (remote): DATA': {
    sends: [completeCall(1, WAIT), data],
    expect: reset(1, 'STREAM_CLOSED'),
  },
  '5.1 half-closed (remote): HEADERS': {
    sends: [completeCall(1, WAIT), trailers],
    expect: reset(1, 'STREAM_CLOSED'),
  },
  '5.1 half-closed (remote): CONTINUATION': {
    sends: [completeCall(1, WAIT), continuation],
    expect: goaway('PROTOCOL_ERROR'),
  },

  '5.1 closed by the client: PRIORITY is accepted': {
    sends: [openCall(1), cancel(1), priority(1, 0), completeCall(3)],
    expect: answered(3),
  },
  '5.1 closed by the client: WINDOW_UPDATE and another RST_STREAM are accepted': {
    sends: [openCall(1), cancel(1), windowUpdate(1, 9), cancel(1), completeCall(3)],
    expect: answered(3),
  },
  '5.1 closed by the client: DATA': {
    sends: [openCall(1), cancel(1), data],
    expect: reset(1, 'STREAM_CLOSED'),
  },
  '5.1 closed by the client: HEADERS': {
    sends: [openCall(1), cancel(1), trailers],
    expect: goaway('STREAM_CLOSED'),
  },
  '5.1 closed by the client: CONTINUATION': {
    sends: [openCall(1), cancel(1), continuation],
    expect: goaway('PROTOCOL_ERROR'),
  },

  '5.1 closed: PRIORITY is accepted': {
    sends: [completeCall(1), priority(1, 0), completeCall(3)],
    expect: answered(3),
  },
  '5.1 closed: WINDOW_UPDATE is accepted': {
    sends: [completeCall(1), windowUpdate(1, 10), completeCall(3)],
    expect: answered(3),
  },
  '5.1 closed: DATA': { sends: [completeCall(1), data], expect: reset(1, 'STREAM_CLOSED') },
  '5.1 closed: HEADERS': { sends: [completeCall(1), trailers], expect: goaway('STREAM_CLOSED') },
  '5.1 closed: CONTINUATION': {
    sends: [completeCall(1), continuation],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '5.1 closed by the server: frames in transit are ignored': {
    // An unknown method is answered after its headers, before the client can know.
    sends: [openCall(1, '/test.Echo/Missing'), frame(frameType.DATA, 0, 1, hello), data, trailers],
    expect: answered(1),
  },

  '5.1.1: an even stream identifier': {
    sends: [frame(frameType.HEADERS, END, 2, sayBlock)],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '5.1.1: an identifier below the last, never used': {
    sends: [completeCall(5), frame(frameType.HEADERS, END, 3, sayBlock)],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '5.1.1: identifiers may leave gaps': {
    sends: [completeCall(1), completeCall(7), completeCall(101)],
    expect: answered(101),
  },
  '5.1.1: the largest identifier is a valid stream': {
    sends: [completeCall(2 ** 31 - 1)],
    expect: answered(2 ** 31 - 1),
  },
  '5.1.2: one call more than SETTINGS_MAX_CONCURRENT_STREAMS is refused': {
    sends: [1, 3, 5, 7, 9].map((id) => completeCall(id, WAIT)),
    expect: reset(9, 'REFUSED_STREAM'),
  },

  '5.3.1: HEADERS that depend on themselves': {
    sends: [
      frame(
        frameType.HEADERS,
        END | flag.PRIORITY,
        1,
        Buffer.concat([Buffer.from([0, 0, 0, 1, 15]), sayBlock]),
      ),
    ],
    expect: reset(1, 'PROTOCOL_ERROR'),
  },
  '5.3.1: PRIORITY that depends on itself': {
    sends: [openCall(1), priority(1, 1)],
    expect: reset(1, 'PROTOCOL_ERROR'),
  },
  '5.3.1: an idle stream cannot be reset, so the same there ends the connection': {
    sends: [priority(1, 1)],
    expect: goaway('PROTOCOL_ERROR'),
  },

  '5.4.1: a connection error is GOAWAY and the end': {
    sends: [completeCall(1), frame(frameType.PING, 0, 0, Buffer.alloc(6))],
    expect: goaway('FRAME_SIZE_ERROR'),
  },
  '5.5: an extension frame is ignored': {
    sends: [frame(0xf0, 0xff, 1, Buffer.alloc(64)), completeCall(1)],
    expect: answered(1),
  },
  '5.5: an extension frame inside a header block': {
    sends: [
      frame(frameType.HEADERS, 0, 1, headerBlock(requestFields(SAY))),
      frame(0xf0, 0, 1, Buffer.alloc(4)),
      frame(frameType.CONTINUATION, flag.END_HEADERS, 1),
    ],
    expect: goaway('PROTOCOL_ERROR'),
  },
}
