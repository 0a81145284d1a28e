import { HpackDecoder } from '../src/hpack/decoder.ts'
import { errorCode, flag, frameType, MAX_FRAME_SIZE } from '../src/http2/frames.ts'
import { CLIENT_TABLE_SIZE, fail } from './failure.ts'

/** The response on one stream. */
export interface Answer {
  /** The fields of its headers and trailers. */
  readonly fields: Map<string, string>
  readonly data: Buffer[]
  isEnded: boolean
}

/** A summary of the server's output. */
export interface OutputSummary {
  /** The code of the last GOAWAY; -1 if there was none. */
  goawayCode: number
  /** The codes of RST_STREAM frames by stream. */
  readonly resetCodes: Map<number, number>
  readonly answers: Map<number, Answer>
}

const HEADER_SIZE = 9

const allowed: ReadonlySet<number> = new Set([
  frameType.DATA,
  frameType.HEADERS,
  frameType.RST_STREAM,
  frameType.SETTINGS,
  frameType.PING,
  frameType.GOAWAY,
  frameType.WINDOW_UPDATE,
])

/**
 * Reads the server's output as a strict client would: whatever the input was, the output must be
 * correct HTTP/2 (RFC 9113 5.1 defines the valid order of frames on a stream).
 */
export function checkOutput(output: Buffer): OutputSummary {
  const summary: OutputSummary = {
    goawayCode: -1,
    resetCodes: new Map(),
    answers: new Map(),
  }
  const decoder = new HpackDecoder(CLIENT_TABLE_SIZE, 2 ** 20)
  for (let at = 0; at < output.length; ) {
    if (output.length - at < HEADER_SIZE) fail('the output ends inside a frame header')
    const length = output.readUIntBE(at, 3)
    const type = output.readUInt8(at + 3)
    const flags = output.readUInt8(at + 4)
    const id = output.readUInt32BE(at + 5)
    const start = at + HEADER_SIZE
    const end = start + length
    if (end > output.length) fail('the output ends inside a frame')
    if (length > MAX_FRAME_SIZE) fail('a frame is longer than a client must accept')
    if (!allowed.has(type)) fail(`a server does not send frames of type ${type}`)
    if (at === 0 && type !== frameType.SETTINGS) fail('the first frame is not SETTINGS')
    if (summary.goawayCode > errorCode.NO_ERROR) fail('something follows the GOAWAY of an error')
    at = end

    if (type === frameType.GOAWAY) summary.goawayCode = output.readUInt32BE(start + 4)
    if (type === frameType.RST_STREAM) {
      if (summary.resetCodes.has(id)) fail(`stream ${id} is reset twice`)
      summary.resetCodes.set(id, output.readUInt32BE(start))
    }
    if (type === frameType.WINDOW_UPDATE && output.readUInt32BE(start) === 0) {
      fail('a WINDOW_UPDATE of 0')
    }
    if (type !== frameType.DATA && type !== frameType.HEADERS) continue

    if (id % 2 === 0) fail(`an answer on stream ${id}`)
    let answer = summary.answers.get(id)
    if (answer === undefined) {
      if (type === frameType.DATA) fail(`DATA before HEADERS on stream ${id}`)
      answer = { fields: new Map(), data: [], isEnded: false }
      summary.answers.set(id, answer)
    }
    if (answer.isEnded || summary.resetCodes.has(id))
      fail(`an answer on stream ${id}, which is over`)
    answer.isEnded = (flags & flag.END_STREAM) !== 0
    if (type === frameType.DATA) {
      answer.data.push(output.subarray(start, end))
      continue
    }
    if ((flags & flag.END_HEADERS) === 0) fail('an incomplete header block')
    const fields = decoder.decode(output, start, end) ?? fail('a broken header block')
    for (const { name, value } of fields) answer.fields.set(name, value)
  }
  return summary
}
