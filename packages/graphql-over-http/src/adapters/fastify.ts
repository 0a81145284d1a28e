import type { FastifyReply, FastifyRequest, RouteHandler } from 'fastify'
import type { HandlerOptions as CoreOptions, OperationContext } from '../options.ts'
import type { Request, RequestParams, Response } from '../request.ts'
import { adapt } from './shared/adapt.ts'
import { type AdapterOptions, type BodyLimits, parseBodyLimits } from './shared/adapter-options.ts'
import { answerOrParams } from './shared/answer-or-params.ts'
import { HostRequest } from './shared/host-request.ts'
import { isClosed } from './shared/node-response.ts'
import { openNodeSignal } from './shared/node-signal.ts'
import { fromParser } from './shared/parsed-body.ts'
import { toHeaders, varyByAccept } from './shared/response-headers.ts'

/** The type of `req.context` in the options. */
export interface RequestContext {
  /** The reply of Fastify. Headers and cookies that you set on it are sent. */
  reply: FastifyReply
}

/**
 * Options of the handler for Fastify. Fastify reads the body itself, up to its own `bodyLimit`, 1 MiB
 * by default; `bodyLimitBytes` can only lower that.
 */
export interface HandlerOptions<Context extends OperationContext = undefined>
  extends CoreOptions<FastifyRequest, RequestContext, Context>,
    AdapterOptions {}

/**
 * Makes a GraphQL-over-HTTP handler for Fastify 5.
 *
 * @example
 * ```ts
 * import { createHandler } from '@portcullis/graphql-over-http/use/fastify'
 * import Fastify from 'fastify'
 * import { buildSchema } from 'graphql'
 *
 * const schema = buildSchema('type Query { hello: String }')
 * const fastify = Fastify()
 * fastify.all('/graphql', createHandler({ schema }))
 * await fastify.listen({ port: 4000 })
 * ```
 *
 * Fastify's own parser answers malformed JSON, an empty body and unknown content types itself, in
 * the format of Fastify's errors. To send GraphQL errors instead, pass the raw body to the handler:
 *
 * ```ts
 * fastify.register(async (scope) => {
 *   scope.removeAllContentTypeParsers()
 *   scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_req, body, done) => done(null, body))
 *   scope.all('/graphql', createHandler({ schema }))
 * })
 * ```
 */
export function createHandler<Context extends OperationContext = undefined>(
  options: HandlerOptions<Context>,
): RouteHandler {
  return adapt(options, {
    host: 'fastify',
    isHost: (req, reply) => req?.raw !== undefined && reply?.hijack !== undefined,
    toRequest,
    answer,
  })
}

/**
 * Reads the parameters of a request without executing it. When the request breaks the protocol, the
 * error response is sent through `reply` and the promise resolves to null; malformed parameters throw.
 */
export async function parseRequestParams(
  req: FastifyRequest,
  reply: FastifyReply,
  options: AdapterOptions = {},
): Promise<RequestParams | null> {
  return answerOrParams(toRequest(req, reply, parseBodyLimits(options)), (response) => {
    answer(response, options.vary === true, req, reply)
    return null
  })
}

function toRequest(
  req: FastifyRequest,
  reply: FastifyReply,
  limits: BodyLimits,
): Request<FastifyRequest, RequestContext> {
  return new HostRequest(
    {
      url: req.url,
      method: req.method,
      headers: req.headers,
      body: fromParser(toParsed(req), req.headers, limits.parsed),
      raw: req,
      context: { reply },
    },
    openNodeSignal,
    reply.raw,
  )
}

/** A string from Fastify's own JSON parser is a value and not the text of the body: it becomes JSON again. */
function toParsed(req: FastifyRequest): unknown {
  const { body } = req
  return typeof body === 'string' && usesDefaultParser(req) ? JSON.stringify(body) : body
}

interface ContentTypeParsers {
  getParser?(contentType: string): { readonly fn?: { readonly name: string } } | undefined
}

/** Fastify has no public method for this. Returns false if its internals are not as expected. */
function usesDefaultParser({ server, headers }: FastifyRequest): boolean {
  const key = Object.getOwnPropertySymbols(server).find(
    ({ description }) => description === 'fastify.contentTypeParser',
  )
  const parsers: ContentTypeParsers | undefined = key && Reflect.get(server, key)
  const parser = parsers?.getParser?.(headers['content-type'] ?? '')
  return parser?.fn?.name === 'defaultJsonParser'
}

function answer(
  [body, init]: Response,
  vary: boolean,
  _req: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (reply.sent) return reply
  // The client has disconnected. Without `hijack`, Fastify would wait for the response to end.
  if (isClosed(reply.raw)) return reply.hijack()
  reply.headers(toHeaders(init))
  if (vary) reply.header('vary', varyByAccept(String(reply.getHeader('vary') ?? '')))
  reply.code(init.status)
  // HTTP/2 has no status text; Node prints a warning when given one.
  if (init.statusText && reply.request.raw.httpVersionMajor < 2) {
    reply.raw.statusMessage = init.statusText
  }
  // Fastify would send null as the text "null".
  return reply.send(body ?? undefined)
}
