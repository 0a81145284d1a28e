import { settingId } from '../../../src/http2/frames.ts'
import { settings } from '../../support/raw-client.ts'
import { type Cases, completeCall, sentData, windowUpdate } from '../case.ts'

const initialWindow = (size: number): Buffer => settings([settingId.INITIAL_WINDOW_SIZE, size])

/** The response to `completeCall` has 10 bytes of DATA. RFC 9113 6.9 defines how many may be sent. */
export const flowControl: Cases = {
  '6.9.1: a window of 1 allows 1 byte': {
    sends: [initialWindow(1), completeCall(1)],
    expect: sentData(1, 1),
  },
  '6.9.1: each WINDOW_UPDATE allows as much as it adds': {
    sends: [initialWindow(0), completeCall(1), windowUpdate(1, 2), windowUpdate(1, 3)],
    expect: sentData(1, 2, 3),
  },
  '6.9.1: what fits is sent in one frame': {
    sends: [initialWindow(10), completeCall(1)],
    expect: sentData(1, 10),
  },
  '6.9.1: one stream does not use the window of another': {
    sends: [initialWindow(4), completeCall(1), completeCall(3), windowUpdate(3, 6)],
    expect: sentData(3, 4, 6),
  },
  '6.9.2: a larger initial window releases waiting data': {
    sends: [initialWindow(0), completeCall(1), initialWindow(1)],
    expect: sentData(1, 1),
  },
  '6.9.2: a smaller initial window makes windows negative, which must be compensated first': {
    sends: [initialWindow(3), completeCall(1), initialWindow(2), windowUpdate(1, 2)],
    expect: sentData(1, 3, 1),
  },
  '6.9.2: the connection window is not changed by SETTINGS': {
    sends: [initialWindow(0), completeCall(1), windowUpdate(0, 100)],
    expect: sentData(1),
  },
  '6.5.3: several values of one setting apply in their order': {
    sends: [
      settings([settingId.INITIAL_WINDOW_SIZE, 100], [settingId.INITIAL_WINDOW_SIZE, 1]),
      completeCall(1),
    ],
    expect: sentData(1, 1),
  },
}
