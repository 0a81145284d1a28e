import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { Log } from '@portcullis/service-kit/log'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiConfig } from '../../config/api.ts'
import { DatabaseLostError } from '../../db/database-errors.ts'
import type { ApiError } from '../../errors.ts'
import { type Answer, readHeader } from '../call.ts'
import {
  requestIdHeader,
  toApiError,
  toErrorAnswer,
  toUnexpected,
  versionHeader,
} from './error-answer.ts'
import { wantsVersionedErrors } from './read-call.ts'
import type { WatchedCalls } from './watch-calls.ts'

/** On every answer: tokens are for the caller alone, and no browser should guess at anything. */
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
  /** Sends what an endpoint answers. */
  send(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply
  /** Answers with an error, whatever was thrown. */
  fail(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply
  /** Whether there is an answer already: the deadline and what it cuts off may both have one. */
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
  /** For an answer that cannot be sent: the caller gets another one all the same. */
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
      // The log has a line for the request, at the level of those that went well.
      if (hasLeft(request)) return reply.hijack()
      // Sending takes no time: an answer that has not ended by now never will.
      if (answered.has(reply) && !reply.raw.writableEnded) return sendAnyway(request, reply, error)
      const known = toApiError(error, api.bodyLimitBytes)
      logFailure(request, known)
      return send(request, reply, toErrorAnswer(known, isVersioned(request), request.id))
    },
    hasAnswered: (reply) => answered.has(reply),
  }
}

function write(reply: FastifyReply, { status, body, html, headers, onSent }: Answer): FastifyReply {
  const text = html ?? (body === undefined ? undefined : JSON.stringify(body))
  const type = html === undefined ? 'application/json' : 'text/html; charset=utf-8'
  reply.headers({ ...safeHeaders, ...headers })
  // Fastify would answer in its own words, and quote the header to the caller.
  checkHeaders(reply.getHeaders())
  reply.code(status)
  if (onSent !== undefined) {
    // By then the response has let go of its connection. Of one that is gone Node says that
    // everything was sent, too.
    const { socket } = reply.raw
    reply.raw.once('finish', () => {
      if (socket?.destroyed === false) onSent()
    })
  }
  return text === undefined ? reply.send() : reply.type(type).send(text)
}

/** @throws {TypeError} where Node would refuse to send one of them. */
function checkHeaders(headers: ReturnType<FastifyReply['getHeaders']>): void {
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name)
    for (const each of [value].flat()) validateHeaderValue(name, `${each}`)
  }
}

/**
 * Answers a request whose answer could not be sent: a header that Node refuses, a body that is not JSON.
 * Fastify has no part in it, because what it was given is at fault. Where a part of the first answer is
 * on its way already, the connection is cut off: nobody waits for the rest.
 */
function writeRaw(reply: FastifyReply, { status, headers, body }: Answer): void {
  const { raw } = reply
  reply.hijack()
  if (raw.writableEnded) return
  try {
    if (raw.headersSent) throw new Error('A part of another answer has been sent')
    // Node drops the body of this answer too where the first one could have none.
    const hasBody = raw.statusCode >= 200 && raw.statusCode !== 204 && raw.statusCode !== 304
    const text = Buffer.from(hasBody ? JSON.stringify(body) : '')
    for (const name of raw.getHeaderNames()) raw.removeHeader(name)
    raw.writeHead(status, {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': text.length,
      // The rest of the request may not have been read.
      connection: 'close',
    })
    raw.end(text)
  } catch {
    raw.destroy()
  }
}

/** Whether the caller has closed the connection in the middle of the body, so that nothing has been done. */
function hasLeft({ raw }: FastifyRequest): boolean {
  return raw.readableAborted && !raw.complete
}

function toReason({ cause }: ApiError): string {
  // Where it happened says nothing about a database that is away, and there are many of them.
  if (cause instanceof DatabaseLostError) return cause.message
  return cause instanceof Error ? (cause.stack ?? cause.message) : ''
}
