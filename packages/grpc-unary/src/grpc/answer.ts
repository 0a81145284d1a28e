import { copyBytes, putUint32 } from '../bytes.ts'
import { MAX_OK_BLOCK, type ResponseField } from '../hpack/response-encoder.ts'
import { FRAME_HEADER_SIZE, flag, frameType, putFrameHeader } from '../http2/frames.ts'
import type { Stream } from '../http2/stream.ts'
import type { StatusCode } from '../status.ts'
import { toStatusMessage } from './status-message.ts'

/** One byte for the compression flag, four for the length of the message. */
export const PREFIX_SIZE = 5

const END = flag.END_HEADERS | flag.END_STREAM

const GRPC_CONTENT: ResponseField = ['content-type', 'application/grpc']

/** Sends the whole response of a unary call: headers, message, trailers. */
export function answerOk(stream: Stream, message: Uint8Array, start: number, end: number): void {
  const { connection, id } = stream
  const size = PREFIX_SIZE + end - start
  if (!connection.sendFlow.tryPass(stream, size)) {
    putHeaders(stream)
    sendMessage(stream, message, start, end)
    finishOk(stream)
    return
  }
  const { output, encoder } = connection
  const headers = output.reserve(3 * FRAME_HEADER_SIZE + 2 * MAX_OK_BLOCK + size)
  const { bytes } = output

  const data = encoder.putOkHeaders(bytes, headers + FRAME_HEADER_SIZE)
  const blockSize = data - headers - FRAME_HEADER_SIZE
  putFrameHeader(bytes, headers, blockSize, frameType.HEADERS, flag.END_HEADERS, id)

  const prefix = putFrameHeader(bytes, data, size, frameType.DATA, 0, id)
  bytes[prefix] = 0
  putUint32(bytes, prefix + 1, end - start)
  copyBytes(bytes, prefix + PREFIX_SIZE, message, start, end)

  const trailers = prefix + size
  const answerEnd = encoder.putOkTrailers(bytes, trailers + FRAME_HEADER_SIZE)
  const trailersSize = answerEnd - trailers - FRAME_HEADER_SIZE
  putFrameHeader(bytes, trailers, trailersSize, frameType.HEADERS, END, id)
  output.length = answerEnd
  connection.finish(stream)
}

/** Writes the headers of a response whose messages follow. */
export function putHeaders(stream: Stream): void {
  const { output, encoder } = stream.connection
  const at = output.reserve(FRAME_HEADER_SIZE + MAX_OK_BLOCK)
  const end = encoder.putOkHeaders(output.bytes, at + FRAME_HEADER_SIZE)
  endHeaders(stream, at, end, flag.END_HEADERS)
  stream.connection.touch()
}

/** Sends one message; the peer's windows may hold back a part of it. */
export function sendMessage(stream: Stream, message: Uint8Array, start: number, end: number): void {
  const chunk = Buffer.allocUnsafe(PREFIX_SIZE + end - start)
  chunk[0] = 0
  putUint32(chunk, 1, end - start)
  copyBytes(chunk, PREFIX_SIZE, message, start, end)
  stream.connection.sendFlow.send(stream, chunk)
}

/** Writes the trailers of a successful response, after all its messages. */
export function finishOk(stream: Stream): void {
  stream.isOpen = false
  stream.connection.sendFlow.whenSent(stream, () => {
    const { output, encoder } = stream.connection
    const at = output.reserve(FRAME_HEADER_SIZE + MAX_OK_BLOCK)
    const end = encoder.putOkTrailers(output.bytes, at + FRAME_HEADER_SIZE)
    endHeaders(stream, at, end, END)
    stream.connection.finish(stream)
  })
}

/** Writes the trailers of a failed call whose headers are already sent. */
export function finishFailed(stream: Stream, code: StatusCode, message: string): void {
  stream.isOpen = false
  const fields = toStatusFields(code, message)
  stream.connection.sendFlow.whenSent(stream, () => {
    const { output, encoder } = stream.connection
    const at = output.reserve(FRAME_HEADER_SIZE + encoder.sizeOf(fields))
    const end = encoder.putTrailers(output.bytes, at + FRAME_HEADER_SIZE, fields)
    endHeaders(stream, at, end, END)
    stream.connection.finish(stream)
  })
}

/** Fails a call before anything was sent: headers and trailers in one block ("Trailers-Only"). */
export function answerFailed(
  stream: Stream,
  code: StatusCode,
  message: string,
  {
    httpStatus = 200,
    fields = [],
  }: { httpStatus?: number; fields?: readonly ResponseField[] } = {},
): void {
  putBlock(stream, httpStatus, [GRPC_CONTENT, ...toStatusFields(code, message), ...fields], END)
  stream.connection.finish(stream)
}

/** Ends a call successfully without a message. */
export function answerEmpty(stream: Stream): void {
  putBlock(stream, 200, [GRPC_CONTENT, ['grpc-status', '0']], END)
  stream.connection.finish(stream)
}

/** Answers a request that is not gRPC. */
export function answerHttp(
  stream: Stream,
  httpStatus: number,
  text: string,
  fields: readonly ResponseField[] = [],
): void {
  const body = Buffer.from(`${text}\n`)
  // RFC 9110 9.3.2: the response to HEAD has the headers of the content, but no content.
  const isHead = stream.head.method === 'HEAD'
  stream.isOpen = false
  const content: ResponseField[] = [
    ['content-type', 'text/plain; charset=utf-8'],
    ['content-length', String(body.length)],
  ]
  putBlock(stream, httpStatus, [...content, ...fields], isHead ? END : flag.END_HEADERS)
  if (isHead) {
    stream.connection.finish(stream)
    return
  }
  const { sendFlow, output } = stream.connection
  sendFlow.send(stream, body)
  sendFlow.whenSent(stream, () => {
    const at = output.reserve(FRAME_HEADER_SIZE)
    output.length = putFrameHeader(output.bytes, at, 0, frameType.DATA, flag.END_STREAM, stream.id)
    stream.connection.finish(stream)
  })
}

function putBlock(
  stream: Stream,
  httpStatus: number,
  fields: readonly ResponseField[],
  flags: number,
): void {
  const { output, encoder } = stream.connection
  const at = output.reserve(FRAME_HEADER_SIZE + encoder.sizeOf(fields))
  const end = encoder.putHeaders(output.bytes, at + FRAME_HEADER_SIZE, httpStatus, fields)
  endHeaders(stream, at, end, flags)
  stream.connection.touch()
}

/** Completes a HEADERS frame at `at`, whose block was written after the space for its header. */
function endHeaders({ connection, id }: Stream, at: number, end: number, flags: number): void {
  const { output } = connection
  putFrameHeader(output.bytes, at, end - at - FRAME_HEADER_SIZE, frameType.HEADERS, flags, id)
  output.length = end
}

function toStatusFields(code: StatusCode, message: string): ResponseField[] {
  const fields: ResponseField[] = [['grpc-status', String(code)]]
  if (message !== '') fields.push(['grpc-message', toStatusMessage(message)])
  return fields
}

/** Sent with a refusal, so that the client learns which compressions are supported. */
export const ACCEPTED_ENCODINGS: readonly ResponseField[] = [
  ['grpc-accept-encoding', 'identity,gzip'],
]
