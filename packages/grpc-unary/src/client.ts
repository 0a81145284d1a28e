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
import {
  type GrpcResult,
  prefixLength,
  toFailed,
  toResetResult,
  toServerResult,
} from './client-result.ts'
import { toReason } from './reason.ts'
import { status } from './status.ts'

// A unary gRPC client on node:http2, for commands, tests and other callers that make few calls.

export type { GrpcResult } from './client-result.ts'

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
      toServerResult(headers, trailers, Buffer.concat(chunks)) ??
      toLoss(connection, stream.rstCode, failure)
    resolve({ ...outcome, headers, trailers })
  })
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort)

  const prefix = Buffer.alloc(prefixLength)
  prefix.writeUInt32BE(message.length, 1)
  stream.end(Buffer.concat([prefix, message]))
}

/** The result of a call whose stream ended before the server's result was complete. */
function toLoss(
  { isClosed, session }: Connection,
  resetCode: number | undefined,
  reason: string,
): GrpcResult {
  if (isClosed) return toFailed(status.CANCELLED, 'this client was closed')
  if (session.destroyed) return toFailed(status.UNAVAILABLE, reason || 'the connection was lost')
  return toResetResult(resetCode, reason)
}
