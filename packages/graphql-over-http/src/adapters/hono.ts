import type { Context as HonoContext } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import type { HandlerOptions as CoreOptions, OperationContext } from '../options.ts'
import type { Request, RequestParams, Response } from '../request.ts'
import { adapt } from './shared/adapt.ts'
import { type AdapterOptions, type BodyLimits, parseBodyLimits } from './shared/adapter-options.ts'
import { answerOrParams } from './shared/answer-or-params.ts'
import { bodyTooLarge } from './shared/error-responses.ts'
import { openFetchSignal, readFetchBody } from './shared/fetch-body.ts'
import { toFetchInit } from './shared/fetch-response.ts'
import { HostRequest } from './shared/host-request.ts'

/** The type of `req.context` in the options. */
export interface RequestContext {
  /** The context of Hono. Headers that you set with `c.header()` are sent. */
  c: HonoContext
}

/** Options of the handler for Hono. */
export interface HandlerOptions<Context extends OperationContext = undefined>
  extends CoreOptions<globalThis.Request, RequestContext, Context>,
    AdapterOptions {}

/**
 * Makes a GraphQL-over-HTTP handler for Hono, on any runtime. Hono does not support status texts, so
 * only the status code is sent.
 *
 * @example
 * ```ts
 * import { createHandler } from '@portcullis/graphql-over-http/use/hono'
 * import { buildSchema } from 'graphql'
 * import { Hono } from 'hono'
 *
 * const schema = buildSchema('type Query { hello: String }')
 * const app = new Hono()
 * app.all('/graphql', createHandler({ schema }))
 * ```
 */
export function createHandler<Context extends OperationContext = undefined>(
  options: HandlerOptions<Context>,
): (c: HonoContext) => Promise<globalThis.Response> {
  const handle = adapt(options, { host: 'hono', isHost, toRequest, answer })
  // The extra arguments reveal a host that needs another adapter, such as Node's, which passes a
  // response.
  return (c: HonoContext, ...rest: readonly unknown[]) => handle(c, rest[0])
}

/**
 * Reads the parameters of a request without executing it. Resolves to a response instead when the
 * request breaks the protocol; malformed parameters throw.
 */
export async function parseRequestParams(
  c: HonoContext,
  options: AdapterOptions = {},
): Promise<RequestParams | globalThis.Response> {
  return answerOrParams(toRequest(c, undefined, parseBodyLimits(options)), (response) =>
    answer(response, options.vary === true, c),
  )
}

function toRequest(
  c: HonoContext,
  _next: unknown,
  limits: BodyLimits,
): Request<globalThis.Request, RequestContext> {
  const { raw } = c.req
  return new HostRequest(
    {
      url: raw.url,
      method: raw.method,
      headers: raw.headers,
      body: () => readHonoBody(c, limits),
      raw,
      context: { c },
    },
    openFetchSignal,
    raw,
  )
}

function isHost(c: HonoContext | undefined): boolean {
  return c?.req?.raw !== undefined && c.newResponse !== undefined
}

/** Hono caches a body that middleware has read through it, in the form in which it was read. */
async function readHonoBody(c: HonoContext, limits: BodyLimits): Promise<string> {
  const { raw, bodyCache } = c.req
  if (!raw.bodyUsed || Object.keys(bodyCache).length === 0) return readFetchBody(raw, limits.read)
  const text = await c.req.text()
  const { byteLength } = new TextEncoder().encode(text)
  if (byteLength > limits.parsed) throw bodyTooLarge(limits.parsed)
  return text
}

function answer(response: Response, vary: boolean, c: HonoContext): globalThis.Response {
  // `Accept` is appended to what middleware has set; a `vary` header in the response itself
  // replaces it.
  const isReplaced = response[1].headers?.['vary'] !== undefined
  if (vary && !isReplaced) c.header('vary', 'Accept', { append: true })
  const { body, status, headers } = toFetchInit(response, vary && isReplaced)
  return c.newResponse(body, status as StatusCode, headers)
}
