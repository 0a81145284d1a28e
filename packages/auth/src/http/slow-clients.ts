import { randomUUID } from 'node:crypto'
import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError } from '../errors.ts'
import { toErrorAnswer } from './stages/error-answer.ts'

/** Reference 19. */
const headersTimeoutMs = 2_000

/**
 * A token carries the metadata of its user, and a user whose token were refused for its length could not
 * even make it shorter: four times what Node takes by itself.
 */
const longestHeaderBytes = 64 * 1024

/**
 * For Node, which cuts off who sends too much or too slowly (slowloris): headers have two seconds, a whole
 * request as long as its answer may take. A connection on which nothing comes at all counts too.
 */
export function toSlowClientOptions(maxRequestDurationMs: number) {
  const headersMs = Math.ceil(Math.min(headersTimeoutMs, maxRequestDurationMs))
  return {
    http: {
      maxHeaderSize: longestHeaderBytes,
      headersTimeout: headersMs,
      // How often it looks; its own half minute would let them wait much longer.
      connectionsCheckingInterval: Math.min(1_000, headersMs),
    },
    // The deadline answers first; this is for what it does not see.
    requestTimeout: Math.ceil(maxRequestDurationMs) + headersTimeoutMs,
    clientErrorHandler: refuseSlowOrInvalid,
  }
}

interface ClientError extends Error {
  readonly code?: string
}

/** By the code that Node gives. */
const refusals: Readonly<Record<string, () => ApiError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: () =>
    new ApiError('request_timeout', 'The request did not arrive in time', { status: 408 }),
  HPE_HEADER_OVERFLOW: () =>
    new ApiError('request_entity_too_large', 'The headers of the request are too long', {
      status: 431,
    }),
}

const requestCounts = new WeakMap<Socket, number>()

/** Counts the requests of each connection, for `refuseSlowOrInvalid`. */
export function countRequests(server: Server): void {
  server.prependListener('request', ({ socket }) => {
    requestCounts.set(socket, (requestCounts.get(socket) ?? 0) + 1)
  })
}

/**
 * After a pause of this process (a busy machine, garbage collection), Node checks its time limits before it
 * reads the sockets, so a request that has arrived in time counts as late. One turn of the event loop later,
 * all that has arrived is read, and only a connection that still has no request is refused.
 */
function refuseSlowOrInvalid(error: ClientError, socket: Socket): void {
  if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
    refuse(error, socket)
    return
  }
  const before = requestCounts.get(socket)
  setImmediate(() => {
    if (requestCounts.get(socket) === before) refuse(error, socket)
  })
}

/** Answers a client whose bytes did not become a request. */
function refuse(error: ClientError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const known =
    refusals[error.code ?? '']?.() ??
    new ApiError('validation_failed', 'This is not a request of HTTP/1.1')
  const { status, headers, body } = toErrorAnswer(known, false, toRequestId(undefined))
  const text = JSON.stringify(body)
  const lines = Object.entries({
    'content-type': 'application/json; charset=utf-8',
    'content-length': `${Buffer.byteLength(text)}`,
    connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`)
  // Whoever does not read it either is not waited for.
  socket.setTimeout(headersTimeoutMs, () => socket.destroy())
}

/** That of the header the operator names, cleaned for the log; otherwise a new one. */
export function toRequestId(value: string | undefined): string {
  // oxlint-disable-next-line no-control-regex -- they would break the lines of the log
  const cleaned = value?.replaceAll(/[\u0000-\u001f\u007f]/g, '').slice(0, 128)
  return cleaned || randomUUID()
}
