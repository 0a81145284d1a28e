import { Readable } from 'node:stream'
import { validateHeaderName, validateHeaderValue } from '@portcullis/service-kit/http'
import type { Log } from '@portcullis/service-kit/log/log'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiConfig } from '../../config/api.ts'
import { DatabaseLostError } from '../../db/database-errors.ts'
import { type ApiError, SettingError } from '../../errors.ts'
import { type Answer, readHeader } from '../call.ts'
import { liftDeadline } from './deadline.ts'
import { wantsVersionedErrors } from './dialect.ts'
import {
  requestIdHeader,
  toApiError,
  toErrorAnswer,
  toOAuthForm,
  toScimAnswer,
  toUnexpected,
  versionHeader,
} from './error-answer.ts'
import type { WatchedCalls } from './watch-calls.ts'

/** Set on every response: tokens must not be cached, and browsers must not guess content types. */
const safeHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

export interface ResponderSettings {
  readonly api: Pick<ApiConfig, 'compatMode' | 'bodyLimitBytes'>
  readonly calls: Pick<WatchedCalls, 'fail'>
  readonly log: Log
}

export interface Responder {
  /** Sends the response of an endpoint. */
  send(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply
  /** Responds with an error for any thrown value. */
  fail(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply
  /** Whether a response was already started; both the deadline and the endpoint may produce one. */
  hasAnswered(reply: FastifyReply): boolean
}

export function createResponder({ api, calls, log }: ResponderSettings): Responder {
  const answered = new WeakSet<FastifyReply>()
  const isVersioned = ({ headers }: FastifyRequest) =>
    wantsVersionedErrors(api.compatMode, readHeader(headers, versionHeader))

  const send = (request: FastifyRequest, reply: FastifyReply, answer: Answer) => {
    if (answered.has(reply)) return reply
    answered.add(reply)
    try {
      if (answer.failure) {
        logFailure(request, answer.failure)
        reply.header(requestIdHeader, request.id)
      }
      return write(reply, answer)
    } catch (error) {
      return sendAnyway(request, reply, error)
    }
  }
  /** Sends an error response in place of one that could not be sent. */
  const sendAnyway = (request: FastifyRequest, reply: FastifyReply, error: unknown) => {
    const known = toUnexpected(error)
    logFailure(request, known)
    const { headers, ...answer } = toErrorAnswer(known, isVersioned(request), request.id)
    writeRaw(reply, { ...answer, headers: { ...safeHeaders, ...headers } })
    return reply
  }
  const logFailure = (request: FastifyRequest, known: ApiError) => {
    calls.fail(request, known)
    if (known.status < 500) return
    log.error(() => `request ${request.id} failed: ${known.message} ${toReason(known)}`.trim())
  }
  return {
    send,
    fail(request, reply, error) {
      // The client disconnected; the request log has a line at info level.
      if (hasLeft(request)) return reply.hijack()
      // Responses are written synchronously, so one that has not ended by now never will.
      if (answered.has(reply) && !reply.raw.writableEnded) return sendAnyway(request, reply, error)
      const known = toApiError(error, api.bodyLimitBytes)
      logFailure(request, known)
      if (isScim(request)) {
        return send(request, reply, toScimAnswer(known, request.id))
      }
      const isOAuth = request.routeOptions?.config.oauth === 'api'
      const shown = isOAuth ? toOAuthForm(known) : known
      return send(request, reply, toErrorAnswer(shown, isVersioned(request), request.id))
    },
    hasAnswered: (reply) => answered.has(reply),
  }
}

/** Also below a path without an endpoint. */
function isScim({ routeOptions, url }: FastifyRequest): boolean {
  return routeOptions?.config.scim ?? /^\/scim\/v2(?:[/?]|$)/.test(url)
}

function write(reply: FastifyReply, answer: Answer): FastifyReply {
  const { status, stream, headers, onSent } = answer
  const { text, type } = toContent(answer)
  reply.headers({ ...safeHeaders, ...headers })
  // Fastify would respond with its own message and quote the header to the client.
  checkHeaders(reply.getHeaders())
  reply.code(status)
  if (onSent !== undefined) {
    // The response has released its socket by then. Node.js also emits `finish` if the connection
    // is closed.
    const { socket } = reply.raw
    reply.raw.once('finish', () => {
      if (socket?.destroyed === false) onSent()
    })
  }
  if (stream !== undefined) return writeStream(reply, stream)
  return text === undefined ? reply.send() : reply.type(type).send(text)
}

function toContent({ body, html, xml, contentType = 'application/json' }: Answer): {
  readonly text: string | undefined
  readonly type: string
} {
  if (html !== undefined) return { text: html, type: 'text/html; charset=utf-8' }
  if (xml !== undefined) return { text: xml, type: 'application/xml; charset=utf-8' }
  return { text: body === undefined ? undefined : JSON.stringify(body), type: contentType }
}

/** After this time without any progress, a stream is closed. */
const stalledMs = 30_000

function writeStream(reply: FastifyReply, stream: NonNullable<Answer['stream']>): FastifyReply {
  const closed = new AbortController()
  reply.raw.once('close', () => closed.abort())
  liftDeadline(reply.raw)
  // A client that does not read would keep its connection forever. Events are sent every second.
  reply.raw.setTimeout(stalledMs, () => reply.raw.destroy())
  // Proxies such as nginx would otherwise buffer the events.
  reply.header('x-accel-buffering', 'no').type('text/event-stream; charset=utf-8')
  return reply.send(Readable.from(stream(closed.signal)))
}

/** @throws {TypeError} if Node.js would reject a header. */
function checkHeaders(headers: ReturnType<FastifyReply['getHeaders']>): void {
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    for (const each of [value].flat()) validateHeaderValue(name, `${each}`)
  }
}

/**
 * Responds to a request whose response could not be sent, for example because of an invalid header
 * or a body that cannot be serialised. It bypasses Fastify, whose state is inconsistent by then. If
 * part of the first response has been sent, the connection is destroyed.
 */
function writeRaw(reply: FastifyReply, { status, headers, body }: Answer): void {
  const { raw } = reply
  reply.hijack()
  if (raw.writableEnded) return
  try {
    if (raw.headersSent) throw new Error('Part of another response has been sent')
    // Node.js also omits this body if the first status does not allow one.
    const hasBody = raw.statusCode >= 200 && raw.statusCode !== 204 && raw.statusCode !== 304
    const text = Buffer.from(hasBody ? JSON.stringify(body) : '')
    for (const name of raw.getHeaderNames()) raw.removeHeader(name)
    raw.writeHead(status, {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': text.length,
      // The remaining request may be unread.
      connection: 'close',
    })
    raw.end(text)
  } catch {
    raw.destroy()
  }
}

/**
 * Whether the client closed the connection while sending the body, so that nothing was executed.
 */
function hasLeft({ raw }: FastifyRequest): boolean {
  return raw.readableAborted && !raw.complete
}

function toReason({ cause }: ApiError): string {
  // A stack trace does not help with an unavailable database or a wrong setting, and there may be many
  // such errors.
  if (cause instanceof DatabaseLostError || cause instanceof SettingError) return cause.message
  return cause instanceof Error ? (cause.stack ?? cause.message) : ''
}
