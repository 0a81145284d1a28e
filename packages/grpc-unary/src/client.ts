// A unary gRPC client on node:http2, for commands, tests and other callers without high performance
// needs.

import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2'
import { connect as connectNet, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls, TLSSocket } from 'node:tls'
import { toReason } from './reason.ts'
import { status } from './status.ts'

/** Options of {@link openGrpcClient}. */
export interface GrpcClientOptions {
  /** `host:port`, `[::1]:port` or `unix:path`. */
  readonly address: string
  /** Uses TLS; `{}` trusts Node's certificate authorities. Default: plaintext. */
  readonly tls?: Pick<
    ConnectionOptions,
    'ca' | 'cert' | 'key' | 'servername' | 'checkServerIdentity'
  >
  /** Milliseconds to wait for the connection. Default: 10,000. */
  readonly connectTimeoutMs?: number
  /** A call with a longer response ends with RESOURCE_EXHAUSTED. Default: 4 MiB. */
  readonly maxResponseBytes?: number
}

/** Options of one call. */
export interface GrpcCallOptions {
  /** Milliseconds to wait for the response; also sent to the server. Default: no limit. */
  readonly deadlineMs?: number
  /** Request headers (metadata) by their lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
  /** Cancels the call when it aborts. */
  readonly signal?: AbortSignal
}

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

/** A connection to a gRPC server. */
export interface GrpcClient extends AsyncDisposable {
  /** Calls `/package.Service/Method`. The promise never rejects: every failure has a status code. */
  call(path: string, message: Uint8Array, options?: GrpcCallOptions): Promise<GrpcResult>
  /** Ends open calls with CANCELLED and closes the connection. */
  close(): Promise<void>
  /** An alias of `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Resolves when the connection is established, and rejects with the reason if it cannot be. */
export async function openGrpcClient(options: GrpcClientOptions): Promise<GrpcClient> {
  const { address, tls, connectTimeoutMs = 10_000, maxResponseBytes = 4 * 1_024 * 1_024 } = options
  const target = parseAddress(address)
  const socket = tls ? connectTls({ ...target, ...tls, ALPNProtocols: ['h2'] }) : connectNet(target)
  await waitForConnection(socket, address, connectTimeoutMs)

  const host = 'path' in target ? 'localhost' : address
  const session = connectHttp2(`${tls ? 'https' : 'http'}://${host}`, {
    createConnection: () => socket,
  })
  const connection: Connection = { session, failure: 'the connection is closed', isClosed: false }
  // Open calls report the error themselves; without a listener it would end the process.
  session.on('error', (error) => {
    connection.failure = toReason(error)
  })

  async function close(): Promise<void> {
    connection.isClosed = true
    if (session.destroyed) return
    session.destroy()
    await once(session, 'close')
  }
  return {
    call: (path, message, callOptions = {}) =>
      new Promise((resolve) => {
        const stream = openStream(session, path, callOptions)
        if (stream === undefined) resolve(toFailed(status.UNAVAILABLE, connection.failure))
        else exchange(connection, stream, message, callOptions, maxResponseBytes, resolve)
      }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Connection {
  readonly session: ClientHttp2Session
  /** The reason why the connection accepts no more calls. */
  failure: string
  /** Whether this side closed the connection. */
  isClosed: boolean
}

type Target = { readonly path: string } | { readonly host: string; readonly port: number }

function parseAddress(address: string): Target {
  const path = /^unix:(?:\/\/)?(.+)$/.exec(address)?.[1]
  if (path !== undefined) return { path }
  const { bracketed, plain, port } =
    /^(?:\[(?<bracketed>[^\]]+)\]|(?<plain>[^:/]+)):(?<port>\d{1,5})$/.exec(address)?.groups ?? {}
  const host = bracketed ?? plain
  if (host === undefined || Number(port) > 65_535) {
    throw new TypeError(
      `"${address}" is not an address: expected host:port, [host]:port or unix:path`,
    )
  }
  return { host, port: Number(port) }
}

async function waitForConnection(socket: Socket, address: string, timeoutMs: number) {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    await once(socket, socket instanceof TLSSocket ? 'secureConnect' : 'connect', { signal })
    if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2') {
      throw new Error(
        'the server does not speak HTTP/2 (it did not choose h2 in the TLS handshake)',
      )
    }
  } catch (error) {
    socket.destroy()
    const reason =
      error instanceof Error && error.name === 'AbortError'
        ? `no connection within ${timeoutMs} ms`
        : toReason(error)
    throw new Error(`${address}: ${reason}`, { cause: error })
  }
}

/** Returns undefined if the connection accepts no more calls. */
function openStream(
  session: ClientHttp2Session,
  path: string,
  { headers, deadlineMs }: GrpcCallOptions,
): ClientHttp2Stream | undefined {
  if (session.closed || session.destroyed) return undefined
  return session.request({
    ...headers,
    ':method': 'POST',
    ':path': path,
    te: 'trailers',
    'content-type': 'application/grpc',
    ...(deadlineMs === undefined ? {} : { 'grpc-timeout': toGrpcTimeout(deadlineMs) }),
  })
}

/** At most eight digits and a unit: milliseconds as long as they fit, otherwise seconds. */
function toGrpcTimeout(deadlineMs: number): string {
  const milliseconds = Math.max(0, Math.ceil(deadlineMs))
  if (milliseconds < 1e8) return `${milliseconds}m`
  return `${Math.min(Math.ceil(milliseconds / 1_000), 99_999_999)}S`
}

function exchange(
  connection: Connection,
  stream: ClientHttp2Stream,
  message: Uint8Array,
  { deadlineMs, signal }: GrpcCallOptions,
  maxResponseBytes: number,
  resolve: (result: GrpcResult) => void,
): void {
  let headers: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders = {}
  const chunks: Buffer[] = []
  let length = 0
  let failure = ''

  function giveUp(code: number, reason: string): void {
    resolve({ ...toFailed(code, reason), headers, trailers })
    stream.close(constants.NGHTTP2_CANCEL)
  }
  const onAbort = () => giveUp(status.CANCELLED, 'the caller cancelled the call')
  const onDeadline = () => {
    const isAnswered = 'grpc-status' in trailers || stream.endAfterHeaders
    if (!isAnswered) giveUp(status.DEADLINE_EXCEEDED, 'no response before the deadline')
  }
  // Waits one more turn: if this process was busy, the response may have arrived but not been read.
  const timer =
    deadlineMs === undefined ? undefined : setTimeout(() => setImmediate(onDeadline), deadlineMs)

  stream.on('response', (received) => {
    headers = received
  })
  stream.on('trailers', (received) => {
    trailers = received
  })
  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    length += chunk.length
    if (length > maxResponseBytes + prefixLength) {
      giveUp(status.RESOURCE_EXHAUSTED, `the response is longer than ${maxResponseBytes} bytes`)
    }
  })
  stream.on('error', (error) => {
    failure = toReason(error)
  })
  stream.on('close', () => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    const outcome =
      toOutcome(headers, trailers, Buffer.concat(chunks)) ??
      toLoss(connection, stream.rstCode, failure)
    resolve({ ...outcome, headers, trailers })
  })
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort)

  const prefix = Buffer.alloc(prefixLength)
  prefix.writeUInt32BE(message.length, 1)
  stream.end(Buffer.concat([prefix, message]))
}

/** Each message is preceded by a compression flag and its length. */
const prefixLength = 5

/** The server's result; undefined if the stream ended before it was complete. */
function toOutcome(
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
  if (body[0] !== 0)
    return toFailed(
      status.INTERNAL,
      'the response is compressed, but the client does not accept compression',
    )
  return { ...toFailed(code, ''), response: body.subarray(prefixLength) }
}

function toLoss(
  connection: Connection,
  resetCode: number | undefined,
  failure: string,
): GrpcResult {
  if (connection.isClosed) return toFailed(status.CANCELLED, 'this client was closed')
  if (connection.session.destroyed) {
    return toFailed(status.UNAVAILABLE, failure || 'the connection was lost')
  }
  const code = codeByReset.get(resetCode ?? 0) ?? status.INTERNAL
  return toFailed(code, failure || 'the stream ended without a status')
}

/**
 * The status codes that the gRPC specification prescribes for responses that do not come from gRPC.
 */
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

function toFailed(code: number, message: string): GrpcResult {
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
