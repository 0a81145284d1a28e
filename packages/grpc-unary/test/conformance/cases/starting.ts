import { flag, frameType, PREFACE, settingId } from '../../../src/http2/frames.ts'
import { frame, settings } from '../../support/raw-client.ts'
import {
  accepted,
  answered,
  type Cases,
  completeCall,
  END,
  ended,
  goaway,
  hello,
  openCall,
  reset,
  sayBlock,
} from '../case.ts'

/** RFC 9113 section 3: starting HTTP/2. */
export const starting: Cases = {
  '3.4: the preface and SETTINGS are accepted': { sends: [], expect: accepted },
  '3.4: SETTINGS with values are accepted, and so is a call directly after them': {
    begins: [PREFACE, settings([settingId.INITIAL_WINDOW_SIZE, 65_535])],
    sends: [completeCall(1)],
    expect: answered(1),
  },
  '3.4: another preface ends the connection': {
    begins: [Buffer.from('INVALID CONNECTION PREFACE\r\n\r\n')],
    sends: [],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '3.4: a preface with a wrong last byte ends the connection': {
    begins: [Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\rX')],
    sends: [],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '3.4: HTTP/1.1 is not supported': {
    begins: [Buffer.from('GET / HTTP/1.1\r\nhost: test\r\n\r\n')],
    sends: [],
    expect: ended,
  },
  '3.4: a TLS handshake is not taken for a preface': {
    begins: [Buffer.from('16030100c8010000c40303', 'hex')],
    sends: [],
    expect: ended,
  },
  '3.4: HEADERS before SETTINGS': {
    begins: [PREFACE],
    sends: [completeCall(1)],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '3.4: an acknowledgement before SETTINGS': {
    begins: [PREFACE, frame(frameType.SETTINGS, flag.ACK, 0)],
    sends: [],
    expect: goaway('PROTOCOL_ERROR'),
  },
}

/** RFC 9113 section 4: frames. */
export const framing: Cases = {
  '4.1: a frame of unknown type is ignored': {
    sends: [frame(0x16, 0, 0, Buffer.alloc(8)), completeCall(1)],
    expect: answered(1),
  },
  '4.1: undefined flags are ignored': {
    sends: [frame(frameType.PING, 0x16, 0, Buffer.alloc(8)), completeCall(1)],
    expect: answered(1),
  },
  '4.1: the reserved bit of the stream identifier is ignored': {
    sends: [frame(frameType.PING, 0, 2 ** 31, Buffer.alloc(8)), completeCall(1)],
    expect: answered(1),
  },
  '4.2: a DATA frame of 2^14 bytes is accepted': {
    sends: [openCall(1), frame(frameType.DATA, 0, 1, Buffer.alloc(16_384))],
    expect: accepted,
  },
  '4.2: a DATA frame over SETTINGS_MAX_FRAME_SIZE': {
    sends: [openCall(1), frame(frameType.DATA, 0, 1, Buffer.alloc(16_385))],
    expect: goaway('FRAME_SIZE_ERROR'),
  },
  '4.2: a HEADERS frame over SETTINGS_MAX_FRAME_SIZE': {
    sends: [frame(frameType.HEADERS, END, 1, Buffer.alloc(16_385))],
    expect: goaway('FRAME_SIZE_ERROR'),
  },
  '4.2: a frame of unknown type over SETTINGS_MAX_FRAME_SIZE': {
    sends: [frame(0x20, 0, 0, Buffer.alloc(16_385))],
    expect: goaway('FRAME_SIZE_ERROR'),
  },
  '4.3: a header block that cannot be decoded': {
    sends: [frame(frameType.HEADERS, END, 1, Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]))],
    expect: goaway('COMPRESSION_ERROR'),
  },
  '4.3: PRIORITY inside a header block': {
    sends: [
      frame(frameType.HEADERS, flag.END_STREAM, 1, sayBlock.subarray(0, 9)),
      frame(frameType.PRIORITY, 0, 1, Buffer.alloc(5)),
      frame(frameType.CONTINUATION, flag.END_HEADERS, 1, sayBlock.subarray(9)),
    ],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '4.3: HEADERS of another stream inside a header block': {
    sends: [
      frame(frameType.HEADERS, flag.END_STREAM, 1, sayBlock.subarray(0, 9)),
      frame(frameType.HEADERS, END, 3, sayBlock),
    ],
    expect: goaway('PROTOCOL_ERROR'),
  },
  '4.3: the block of a refused stream still changes the compression context': {
    sends: [
      // `te: gzip` makes it malformed, but the field after it still enters the dynamic table.
      frame(
        frameType.HEADERS,
        END,
        1,
        Buffer.concat([sayBlock, Buffer.from('\x00\x02te\x04gzip\x40\x03x-a\x01b', 'latin1')]),
      ),
      frame(frameType.HEADERS, flag.END_HEADERS, 3, Buffer.concat([sayBlock, Buffer.from([0xbe])])),
      frame(frameType.DATA, flag.END_STREAM, 3, hello),
    ],
    expect: reset(1, 'PROTOCOL_ERROR'),
  },
}
