import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2'
import { status } from '@portcullis/grpc-unary'
import { toCode, toReason } from '@portcullis/service-kit/text/reason'

/** One bidirectional stream of the aggregated discovery service. */
export interface DiscoveryStream extends Disposable {
  send(request: Uint8Array): void
  /**
   * Returns the next response. Rejects with the reason when the stream ends: there is no regular end, because
   * a server may send new rules at any time.
   */
  next(): Promise<Buffer<ArrayBuffer>>
}

interface DiscoveryStreamSettings {
  readonly headers: Readonly<Record<string, string>>
  readonly maxMessageBytes: number
}

const path = '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources'

export function openDiscoveryStream(
  session: ClientHttp2Session,
  { headers, maxMessageBytes }: DiscoveryStreamSettings,
): DiscoveryStream {
  const stream = session.request({
    ...headers,
    ':method': 'POST',
    ':path': path,
    te: 'trailers',
    'content-type': 'application/grpc',
  })
  const toStatus = noteStatus(stream)
  const messages = readMessages(stream, maxMessageBytes)
  return {
    send(request) {
      if (stream.writable) stream.write(toFrame(request))
    },
    async next() {
      try {
        const { value, done } = await messages.next()
        if (!done) return value
      } catch (error) {
        throw new Error(toStatus() ?? toLoss(error, stream.rstCode), { cause: error })
      }
      throw new Error(toStatus() ?? 'the server ended the stream without a status')
    },
    [Symbol.dispose]() {
      stream.close(constants.NGHTTP2_CANCEL)
    },
  }
}

/** Node reports a reset stream to its reader only as closed, without the reason. */
function toLoss(error: unknown, resetCode = 0): string {
  const isReset = toCode(error) === 'ERR_STREAM_PREMATURE_CLOSE'
  return isReset ? `the server reset the stream (HTTP/2 error code ${resetCode})` : toReason(error)
}

/** Records the status with which the server ends the stream. */
function noteStatus(stream: ClientHttp2Stream): () => string | undefined {
  let headers: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders = {}
  stream.on('response', (received) => {
    headers = received
  })
  stream.on('trailers', (received) => {
    trailers = received
  })
  // The reader receives the error; without a listener, an error before the first read would end the process.
  stream.on('error', () => {})
  return () => {
    // A server that sends only a status sends it in the headers.
    const source = 'grpc-status' in trailers ? trailers : headers
    if ('grpc-status' in source) return toStatusText(source)
    const httpStatus = Number(headers[':status'] ?? 200)
    if (httpStatus === 200) return undefined
    return `the server answered with HTTP status ${httpStatus}, so it may not be a gRPC server`
  }
}

function toStatusText(ending: IncomingHttpHeaders): string {
  const code = Number(ending['grpc-status'])
  if (code === status.OK) return 'the server ended the stream'
  const name = Object.entries(status).find(([, value]) => value === code)?.[0] ?? `code ${code}`
  const message = decodeMessage(String(ending['grpc-message'] ?? ''))
  return message === '' ? name : `${name}: ${message}`
}

/** Decodes percent-encoded UTF-8; anything else is returned unchanged. */
function decodeMessage(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

/** Each message is preceded by a compression flag and its length. */
const prefixLength = 5

export function toFrame(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(prefixLength + message.length)
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, prefixLength)
  return frame
}

/**
 * Reads the gRPC messages from a stream of bytes, each into its own memory, which can be transferred to
 * another thread.
 * @throws Error when the bytes are not messages, or one is too long
 */
export async function* readMessages(
  chunks: AsyncIterable<Buffer>,
  maxMessageBytes: number,
): AsyncGenerator<Buffer<ArrayBuffer>, void, undefined> {
  const prefix = Buffer.alloc(prefixLength)
  let prefixed = 0
  let message: Buffer<ArrayBuffer> | undefined
  let filled = 0
  for await (const chunk of chunks) {
    let at = 0
    while (at < chunk.length) {
      if (message === undefined) {
        const copied = chunk.copy(prefix, prefixed, at)
        at += copied
        prefixed += copied
        if (prefixed < prefixLength) break
        message = toEmptyMessage(prefix, maxMessageBytes)
        filled = 0
      }
      const copied = chunk.copy(message, filled, at)
      at += copied
      filled += copied
      if (filled === message.length) {
        yield message
        message = undefined
        prefixed = 0
      }
    }
  }
  if (prefixed > 0) throw new Error('the stream ended in the middle of a message')
}

function toEmptyMessage(prefix: Buffer, maxMessageBytes: number): Buffer<ArrayBuffer> {
  if (prefix[0] !== 0)
    throw new Error('the server sent a compressed message, which was not negotiated')
  const length = prefix.readUInt32BE(1)
  if (length > maxMessageBytes) {
    throw new Error(
      `the server sent a message of ${length} bytes, and XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES ` +
        `allows ${maxMessageBytes}`,
    )
  }
  return Buffer.alloc(length)
}
