import { errorCode } from '../src/http2/frames.ts'
import { status } from '../src/status.ts'
import { grpcMessage } from '../test/support/raw-client.ts'
import { fail } from './failure.ts'
import { LATE_REPLY, type paths } from './methods.ts'
import type { Answer, OutputSummary } from './output-check.ts'
import type { Request, Session, StreamWindow } from './session.ts'

/** The expected response to a complete request; undefined if the request is never answered. */
interface Expected {
  readonly httpStatus: string
  readonly grpcStatus?: string
  readonly data: Buffer | undefined
  /**
   * The response comes before the request is complete, which must then be stopped (RFC 9113 8.1).
   */
  readonly isEarly?: true
}

type Path = (typeof paths)[number]

const NOTHING = Buffer.alloc(0)
const lateMessage = grpcMessage(LATE_REPLY)

const failed = (code: number): Expected => ({
  httpStatus: '200',
  grpcStatus: String(code),
  data: NOTHING,
})

const good = (data: Buffer): Expected => ({ httpStatus: '200', grpcStatus: '0', data })

/** A unary call without a message is an error. */
const unary =
  (answer: (message: Buffer) => Expected | undefined) =>
  ({ message }: Request): Expected | undefined =>
    message === undefined ? failed(status.INTERNAL) : answer(message)

const expectations: Readonly<Record<Path, (request: Request) => Expected | undefined>> = {
  '/fuzz.Echo/Say': unary(good),
  '/fuzz.Echo/Later': unary(() => good(lateMessage)),
  '/fuzz.Echo/Never': unary(() => undefined),
  '/fuzz.Echo/Fail': unary(() => failed(status.UNAVAILABLE)),
  '/fuzz.Echo/Throw': unary(() => failed(status.INTERNAL)),
  '/fuzz.Echo/Talk': ({ message }) => good(message ?? NOTHING),
  '/fuzz.Echo/Missing': () => ({ ...failed(status.UNIMPLEMENTED), isEarly: true }),
  'no path': () => ({ ...failed(status.UNIMPLEMENTED), isEarly: true }),
}

function toExpected(request: Request): Expected | undefined {
  if (request.method !== 'POST') return { httpStatus: '405', data: undefined }
  if (!request.isGrpc) return { httpStatus: '415', data: undefined }
  return expectations[request.path](request)
}

/**
 * Checks that a client that follows the protocol gets no error, and receives exactly the expected
 * responses as far as its windows allow.
 */
export function checkCompliant(summary: OutputSummary, session: Session): void {
  if (summary.goawayCode > errorCode.NO_ERROR)
    fail(`a compliant client got GOAWAY ${summary.goawayCode}`)
  for (const code of summary.resetCodes.values()) {
    if (code !== errorCode.NO_ERROR) fail(`a compliant client got RST_STREAM ${code}`)
  }
  let sentBytes = 0
  for (const { data } of summary.answers.values()) sentBytes += lengthOf(data)
  if (sentBytes > session.connectionWindow) fail('more DATA than the connection window')

  for (const [id, request] of session.requests) {
    const answer = summary.answers.get(id)
    const window = session.streamWindows.get(id)
    const mustContinue = request.isComplete && sentBytes < session.connectionWindow
    if (answer !== undefined && window !== undefined) checkWindow(id, answer, window, mustContinue)
    if (!request.isComplete) continue
    const expected = toExpected(request)
    if (expected?.isEarly && request.message !== undefined && !summary.resetCodes.has(id)) {
      fail(`stream ${id} was answered early, but the rest of its request was not stopped`)
    }
    if (expected !== undefined) checkAnswer(id, answer, expected)
    else if (answer !== undefined) fail(`stream ${id} got a response that no handler sent`)
  }
}

function checkWindow(
  id: number,
  { data, isEnded }: Answer,
  { last, most }: StreamWindow,
  mustContinue: boolean,
): void {
  const sent = lengthOf(data)
  if (sent > most) fail(`stream ${id} sent ${sent - most} bytes more than its window`)
  if (mustContinue && !isEnded && sent < last) fail(`stream ${id} does not continue`)
}

function checkAnswer(id: number, answer: Answer | undefined, expected: Expected): void {
  if (answer === undefined) fail(`stream ${id} has no answer`)
  const { fields, data, isEnded } = answer
  if (fields.get(':status') !== expected.httpStatus) {
    fail(`stream ${id} has the status ${fields.get(':status')}, not ${expected.httpStatus}`)
  }
  if (expected.data === undefined) return
  if (fields.get('content-type') !== 'application/grpc') fail(`stream ${id} is not gRPC`)
  const sent = Buffer.concat(data)
  if (!sent.equals(expected.data.subarray(0, sent.length))) fail(`stream ${id} has other bytes`)
  if (!isEnded) return
  if (sent.length !== expected.data.length) fail(`stream ${id} is cut off at ${sent.length} bytes`)
  if (fields.get('grpc-status') !== expected.grpcStatus) {
    fail(`stream ${id} ends with ${fields.get('grpc-status')}, not ${expected.grpcStatus}`)
  }
}

function lengthOf(parts: readonly Buffer[]): number {
  let length = 0
  for (const part of parts) length += part.length
  return length
}
