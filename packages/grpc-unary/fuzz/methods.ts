import type { Methods, StreamCall, UnaryCall } from '../src/method.ts'
import { status } from '../src/status.ts'

/** The paths that clients call; the last ones do not exist. */
export const paths = [
  '/fuzz.Echo/Say',
  '/fuzz.Echo/Later',
  '/fuzz.Echo/Never',
  '/fuzz.Echo/Fail',
  '/fuzz.Echo/Throw',
  '/fuzz.Echo/Talk',
  '/fuzz.Echo/Missing',
  'no path',
] as const

/** The reply to calls of `Later`: long enough for small windows to hold it back. */
export const LATE_REPLY = 'a late reply that is longer than the others'

export interface FuzzMethods {
  readonly methods: Methods
  /** Every call that a handler has received and kept. */
  readonly calls: (UnaryCall | StreamCall)[]
  /** Answers the calls of `Later`. */
  answerLate(): void
}

/** Handlers that answer immediately, later, never, or incorrectly. */
export function createFuzzMethods(): FuzzMethods {
  const calls: (UnaryCall | StreamCall)[] = []
  const late: UnaryCall[] = []
  const reply = Buffer.from(LATE_REPLY)
  const onPurpose = new Error('thrown on purpose')
  const methods: Methods = {
    '/fuzz.Echo/Say': {
      kind: 'unary',
      handle: (call) => call.send(call.buffer, call.start, call.end),
    },
    '/fuzz.Echo/Later': {
      kind: 'unary',
      handle(call) {
        calls.push(call)
        late.push(call)
      },
    },
    '/fuzz.Echo/Never': {
      kind: 'unary',
      handle(call) {
        calls.push(call)
      },
    },
    '/fuzz.Echo/Fail': {
      kind: 'unary',
      handle: (call) => call.fail(status.UNAVAILABLE, 'é % \n'),
    },
    '/fuzz.Echo/Throw': {
      kind: 'unary',
      handle() {
        throw onPurpose
      },
    },
    '/fuzz.Echo/Talk': {
      kind: 'stream',
      open(call) {
        calls.push(call)
        return {
          message: (message) => call.send(message),
          halfClose: () => call.end(),
        }
      },
    },
  }
  return {
    methods,
    calls,
    answerLate() {
      for (const call of late) call.send(reply, 0, reply.length)
      late.length = 0
    },
  }
}
