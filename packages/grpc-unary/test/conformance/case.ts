import { errorCode, flag, frameType, PREFACE } from '../../src/http2/frames.ts'
import type { Frame } from '../support/raw-client.ts'
import {
  frame,
  grpcMessage,
  headerBlock,
  requestFields,
  settings,
  uint32,
} from '../support/raw-client.ts'

/** The frames that a client sends, and the expected output of the server. */
export interface Case {
  /** Sent after the preface and an empty SETTINGS frame. */
  readonly sends: readonly Uint8Array[]
  /** Sent instead of the preface and the empty SETTINGS frame. */
  readonly begins?: readonly Uint8Array[]
  readonly expect: Expectation
}

/** Cases by their description. */
export type Cases = Readonly<Record<string, Case>>

/** Everything the server sent until a last PING was answered or the connection ended. */
export interface ServerOutput {
  readonly frames: readonly Frame[]
  readonly isAlive: boolean
}

/** Returns the reason why an output is not as expected. */
export type Expectation = (output: ServerOutput) => string | undefined

/** A connection error: GOAWAY with one of the codes, then the end (RFC 9113 5.4.1). */
export function goaway(...codes: readonly ErrorName[]): Expectation {
  return ({ frames, isAlive }) => {
    if (isAlive) return 'the connection stays open'
    const last = frames.at(-1)
    if (last?.type !== frameType.GOAWAY) return 'the last frame is not GOAWAY'
    return compareCode('GOAWAY', last.payload.readUInt32BE(4), codes)
  }
}

/** A stream error: RST_STREAM with the code; the connection stays open (RFC 9113 5.4.2). */
export function reset(id: number, code: ErrorName): Expectation {
  return ({ frames, isAlive }) => {
    if (!isAlive) return 'the connection ended'
    const resets = frames.filter(({ type }) => type === frameType.RST_STREAM)
    const [found] = resets
    if (found === undefined || resets.length > 1) return `${resets.length} RST_STREAM frames`
    if (found.id !== id) return `RST_STREAM on stream ${found.id}`
    return compareCode('RST_STREAM', found.payload.readUInt32BE(), [code])
  }
}

/** No error: the connection stays open, and no stream is reset. */
export const accepted: Expectation = ({ frames, isAlive }) => {
  if (!isAlive) return 'the connection ended'
  const error = frames.find(
    ({ type, payload }) => type === frameType.RST_STREAM && payload.readUInt32BE() !== 0,
  )
  return error && `RST_STREAM on stream ${error.id}`
}

/** No error, and the request on this stream is answered completely. */
export function answered(id: number, httpStatus = '200'): Expectation {
  return (output) => {
    const answer = output.frames.filter((sent) => sent.id === id)
    const found = answer.find(({ type }) => type === frameType.HEADERS)?.fields?.[':status']
    if (found !== httpStatus) return `status ${found} on stream ${id}`
    if (!answer.some(isEnd)) return `stream ${id} does not end`
    return accepted(output)
  }
}

/** No error, with DATA frames of these sizes so far. */
export function sentData(id: number, ...sizes: readonly number[]): Expectation {
  return (output) => {
    const sent = output.frames
      .filter((found) => found.type === frameType.DATA && found.id === id)
      .map(({ payload }) => payload.length)
    if (sent.join() !== sizes.join()) return `DATA of ${sent.join(', ') || 'no'} bytes`
    return accepted(output)
  }
}

/** The connection ends, with or without a reason. */
export const ended: Expectation = ({ isAlive }) =>
  isAlive ? 'the connection stays open' : undefined

type ErrorName = keyof typeof errorCode

function compareCode(what: string, found: number, codes: readonly ErrorName[]): string | undefined {
  if (codes.some((code) => errorCode[code] === found)) return undefined
  const name = Object.entries(errorCode).find(([, value]) => value === found)?.[0]
  return `${what} has the code ${name ?? found}`
}

function isEnd({ type, flags }: Frame): boolean {
  const mayEnd = type === frameType.DATA || type === frameType.HEADERS
  return mayEnd && (flags & flag.END_STREAM) !== 0
}

export const END = flag.END_HEADERS | flag.END_STREAM

export const SAY = '/test.Echo/Say'

/** Answered only on request of the test, so its stream stays half-closed. */
export const WAIT = '/test.Echo/Wait'

export const sayBlock = headerBlock(requestFields(SAY))

export const hello = grpcMessage('hello')

/** HEADERS that open a call; DATA must follow. */
export function openCall(id: number, path = SAY): Buffer {
  return frame(frameType.HEADERS, flag.END_HEADERS, id, headerBlock(requestFields(path)))
}

/** A complete call, answered immediately. */
export function completeCall(id: number, path = SAY): Buffer {
  return Buffer.concat([openCall(id, path), frame(frameType.DATA, flag.END_STREAM, id, hello)])
}

/** HEADERS with these fields that end the stream. */
export function request(id: number, fields: Readonly<Record<string, string>>): Buffer {
  return frame(frameType.HEADERS, END, id, headerBlock(fields))
}

export function windowUpdate(id: number, increment: number): Buffer {
  return frame(frameType.WINDOW_UPDATE, 0, id, uint32(increment))
}

export function cancel(id: number): Buffer {
  return frame(frameType.RST_STREAM, 0, id, uint32(errorCode.CANCEL))
}

/** A PRIORITY frame; the weight on the wire is one less than its value. */
export function priority(id: number, dependency: number, weight = 15, isExclusive = false): Buffer {
  const payload = Buffer.alloc(5)
  payload.writeUInt32BE(dependency + (isExclusive ? 2 ** 31 : 0))
  payload.writeUInt8(weight, 4)
  return frame(frameType.PRIORITY, 0, id, payload)
}

export function padded(payload: Uint8Array, padding: number): Buffer {
  return Buffer.concat([Buffer.from([padding]), payload, Buffer.alloc(padding)])
}

export const connectionPreface: readonly Uint8Array[] = [PREFACE, settings()]
