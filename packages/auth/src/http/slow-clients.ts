import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { STATUS_CODES } from '@portcullis/service-kit/http'
import { ApiError } from '../errors.ts'
import { toErrorAnswer } from './stages/error-answer.ts'

/** Short, because clients send all headers at once; limits slowloris attacks. */
const headersTimeoutMs = 2_000

/**
 * A token contains the metadata of its user, and a user whose token is rejected for its length
 * could not shorten the metadata. This is four times the default of Node.js.
 */
const longestHeaderBytes = 64 * 1024

/**
 * Options for Node.js to disconnect clients that send too much or too slowly (slowloris): headers
 * must arrive within two seconds, and a whole request within the time limit of its response.
 * Connections that send nothing are included.
 */
export function toSlowClientOptions(maxRequestDurationMs: number) {
  const headersMs = Math.ceil(Math.min(headersTimeoutMs, maxRequestDurationMs))
  return {
    http: {
      maxHeaderSize: longestHeaderBytes,
      headersTimeout: headersMs,
      // With the default interval of 30 seconds, slow clients would stay connected much longer.
      connectionsCheckingInterval: Math.min(1_000, headersMs),
    },
    // The deadline stage responds first; this covers requests that do not reach it.
    requestTimeout: Math.ceil(maxRequestDurationMs) + headersTimeoutMs,
    clientErrorHandler: refuseSlowOrInvalid,
  }
}

interface ClientError extends Error {
  readonly code?: string
}

/** Responses by the error code of Node.js. */
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
 * After a pause of this process (a busy machine, garbage collection), Node.js checks its time
 * limits before it reads the sockets, so a request that arrived in time is considered late. One
 * turn of the event loop later, everything that has arrived is read, and only a connection that
 * still has no request is rejected.
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

/** Responds to a client whose data could not be parsed as a request. */
function refuse(error: ClientError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const known =
    refusals[error.code ?? '']?.() ??
    new ApiError('validation_failed', 'Malformed HTTP/1.1 request')
  const { status, headers, body } = toErrorAnswer(known, false, toRequestId(undefined))
  const text = JSON.stringify(body)
  const lines = Object.entries({
    'content-type': 'application/json; charset=utf-8',
    'content-length': `${Buffer.byteLength(text)}`,
    connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`)
  // A client that does not read the response is disconnected.
  socket.setTimeout(headersTimeoutMs, () => socket.destroy())
}

/** Returns the value of the configured header, cleaned for the log, or a new id. */
export function toRequestId(value: string | undefined): string {
  // oxlint-disable-next-line no-control-regex -- control characters would break log lines
  const cleaned = value?.replaceAll(/[\u0000-\u001f\u007f]/g, '').slice(0, 128)
  return cleaned || randomUUID()
}
