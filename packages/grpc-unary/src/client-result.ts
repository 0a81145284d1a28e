import { constants, type IncomingHttpHeaders } from 'node:http2'
import { status } from './status.ts'

/** The outcome of a call. */
export interface GrpcResult {
  /** The gRPC status code. Connection failures have one too, such as UNAVAILABLE. */
  readonly code: number
  /** The server's message for the code, or this client's if the call did not reach the server. */
  readonly message: string
  /** The encoded response message; empty when the code is not OK. */
  readonly response: Buffer
  /** Response headers. */
  readonly headers: IncomingHttpHeaders
  /** Response trailers. */
  readonly trailers: IncomingHttpHeaders
}

/** Each message is preceded by a compression flag and its length. */
export const prefixLength = 5

/** The server's result; undefined if the stream ended before the result was complete. */
export function toServerResult(
  headers: IncomingHttpHeaders,
  trailers: IncomingHttpHeaders,
  body: Buffer,
): GrpcResult | undefined {
  const ending = 'grpc-status' in trailers ? trailers : headers
  if (!('grpc-status' in ending)) {
    const httpStatus = Number(headers[':status'] ?? 200)
    if (httpStatus === 200) return undefined
    return toFailed(codeByHttpStatus.get(httpStatus) ?? status.UNKNOWN, `HTTP status ${httpStatus}`)
  }
  const code = Number(ending['grpc-status'])
  if (code !== status.OK) return toFailed(code, decodeMessage(String(ending['grpc-message'] ?? '')))
  if (body.length < prefixLength || body.readUInt32BE(1) !== body.length - prefixLength) {
    return toFailed(status.INTERNAL, 'the response is not exactly one message')
  }
  if (body[0] !== 0) {
    const reason = 'the response is compressed, but the client does not accept compression'
    return toFailed(status.INTERNAL, reason)
  }
  return { ...toFailed(code, ''), response: body.subarray(prefixLength) }
}

/**
 * The result of a call whose stream was reset, or ended without a status.
 * @param reason the error of the stream; empty if there is none.
 */
export function toResetResult(resetCode: number | undefined, reason: string): GrpcResult {
  const code = codeByReset.get(resetCode ?? 0) ?? status.INTERNAL
  return toFailed(code, reason || 'the stream ended without a status')
}

/** The status codes that the gRPC specification prescribes for responses that do not come from gRPC. */
const codeByHttpStatus: ReadonlyMap<number, number> = new Map([
  [400, status.INTERNAL],
  [401, status.UNAUTHENTICATED],
  [403, status.PERMISSION_DENIED],
  [404, status.UNIMPLEMENTED],
  [429, status.UNAVAILABLE],
  [502, status.UNAVAILABLE],
  [503, status.UNAVAILABLE],
  [504, status.UNAVAILABLE],
])

/** The status codes that the gRPC specification prescribes for a reset stream, by reason. */
const codeByReset: ReadonlyMap<number, number> = new Map([
  [constants.NGHTTP2_REFUSED_STREAM, status.UNAVAILABLE],
  [constants.NGHTTP2_CANCEL, status.CANCELLED],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, status.RESOURCE_EXHAUSTED],
  [constants.NGHTTP2_INADEQUATE_SECURITY, status.PERMISSION_DENIED],
])

export function toFailed(code: number, message: string): GrpcResult {
  return { code, message, response: Buffer.alloc(0), headers: {}, trailers: {} }
}

/** Decodes percent-encoded UTF-8; returns any other text unchanged. */
function decodeMessage(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}
