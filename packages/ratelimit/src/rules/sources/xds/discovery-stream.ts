import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2'
import { status } from '@portcullis/grpc-unary'
import { readMessages, toFrame } from './messages.ts'
import { toReason } from './reason.ts'

/** One call of the aggregated discovery service: requests go out, responses come in. */
export interface DiscoveryStream extends Disposable {
  send(request: Uint8Array): void
  /**
   * The next response. Rejects with the reason when the stream is over, which it always is at some
   * time: a server has no proper end to its rules.
   */
  next(): Promise<Buffer<ArrayBuffer>>
}

export interface DiscoveryStreamSettings {
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

/** Of a stream that was reset, Node tells its reader only that it is over. */
function toLoss(error: unknown, resetCode = 0): string {
  const isReset =
    error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE'
  return isReset ? `the server reset the stream (HTTP/2 error code ${resetCode})` : toReason(error)
}

/** Listens for what the server says about the end of the stream. */
function noteStatus(stream: ClientHttp2Stream): () => string | undefined {
  let headers: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders = {}
  stream.on('response', (received) => {
    headers = received
  })
  stream.on('trailers', (received) => {
    trailers = received
  })
  // The reader hears of it; without a listener it would be fatal before somebody reads.
  stream.on('error', () => {})
  return () => {
    // A server that has nothing but a status to say sends it with the headers.
    const source = 'grpc-status' in trailers ? trailers : headers
    if ('grpc-status' in source) return toStatusText(source)
    const httpStatus = Number(headers[':status'] ?? 200)
    if (httpStatus === 200) return undefined
    return `the server answered with HTTP status ${httpStatus}, so it may be no gRPC server`
  }
}

function toStatusText(ending: IncomingHttpHeaders): string {
  const code = Number(ending['grpc-status'])
  if (code === status.OK) return 'the server ended the stream'
  const name = Object.entries(status).find(([, value]) => value === code)?.[0] ?? `code ${code}`
  const message = decodeMessage(String(ending['grpc-message'] ?? ''))
  return message === '' ? name : `${name}: ${message}`
}

/** Percent-encoded UTF-8; what is not is shown as it came. */
function decodeMessage(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
