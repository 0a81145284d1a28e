import { type RequestMessage, uniqueDigits } from '../requests.ts'
import { frameFlags, frameHeaderLength, frameTypes, toFrame, writeUint32 } from './frames.ts'
import { createHeaderBlocks, timeout } from './header-blocks.ts'

/** One call, ready to be copied onto a connection: a HEADERS frame and a DATA frame. */
interface PreparedCall {
  readonly bytes: Uint8Array
  readonly dataFrameAt: number
  readonly digitsAt: readonly number[]
}

export interface CallSource {
  /** The maximum length of a call. */
  readonly maxLength: number
  /** Bytes of every DATA frame, which flow control counts. */
  readonly dataLength: number
  /** Writes the next call and returns its end. */
  write(out: Uint8Array, at: number, streamId: number, isFirst: boolean): number
}

/**
 * Returns the calls in turn. Everything is prepared in advance; a call costs one copy, two stream numbers
 * and, if its value is unique or its time limit changes, some digits.
 * @param firstUnique - the first unique value, so that no two jobs share one
 */
export function createCalls(
  messages: readonly RequestMessage[],
  { hasChangingHeaders, firstUnique }: { hasChangingHeaders: boolean; firstUnique: number },
): CallSource {
  const { first, later } = createHeaderBlocks(hasChangingHeaders)
  const firstCalls = messages.map((message) => prepare(first, message))
  const laterCalls = messages.map((message) => prepare(later, message))
  const [{ bytes: sample } = { bytes: new Uint8Array() }] = messages
  if (messages.some(({ bytes }) => bytes.length !== sample.length)) {
    throw new Error('The requests differ in length, which flow control does not expect')
  }
  const timeoutFromDataFrame = timeout.text.length - timeout.digitsAt
  let turn = 0
  let unique = firstUnique

  return {
    maxLength: Math.max(...firstCalls.map(({ bytes }) => bytes.length)),
    dataLength: sample.length + grpcPrefixLength,
    write(out, at, streamId, isFirst) {
      const call = (isFirst ? firstCalls : laterCalls)[turn]
      if (call === undefined) throw new Error('There are no requests to send')
      turn = turn + 1 === messages.length ? 0 : turn + 1
      const { bytes, dataFrameAt, digitsAt } = call
      out.set(bytes, at)
      writeUint32(out, at + 5, streamId)
      writeUint32(out, at + dataFrameAt + 5, streamId)
      if (hasChangingHeaders) {
        writeDigits(
          out,
          at + dataFrameAt - timeoutFromDataFrame,
          timeout.digits,
          streamId % 1_000_000,
        )
      }
      for (let index = 0; index < digitsAt.length; index++) {
        writeDigits(out, at + (digitsAt[index] ?? 0), uniqueDigits, unique++)
      }
      return at + bytes.length
    },
  }
}

const grpcPrefixLength = 5

function prepare(block: Uint8Array, { bytes, digitsAt }: RequestMessage): PreparedCall {
  const prefix = new Uint8Array(grpcPrefixLength)
  writeUint32(prefix, 1, bytes.length)
  const headers = toFrame(frameTypes.headers, frameFlags.endHeaders, 1, block)
  const data = toFrame(frameTypes.data, frameFlags.endStream, 1, Buffer.concat([prefix, bytes]))
  const messageAt = headers.length + frameHeaderLength + grpcPrefixLength
  return {
    bytes: Buffer.concat([headers, data]),
    dataFrameAt: headers.length,
    digitsAt: digitsAt.map((at) => messageAt + at),
  }
}

function writeDigits(out: Uint8Array, at: number, digits: number, value: number): void {
  let rest = value
  for (let position = at + digits - 1; position >= at; position--) {
    const tenth = Math.floor(rest / 10)
    out[position] = 0x30 + rest - tenth * 10
    rest = tenth
  }
}
