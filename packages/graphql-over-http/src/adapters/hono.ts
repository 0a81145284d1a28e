import type { Context as HonoContext } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import type { HandlerOptions as CoreOptions, OperationContext } from '../options.ts'
import type { Request, RequestParams, Response } from '../request.ts'
import { adapt } from './shared/adapt.ts'
import { type AdapterOptions, parseBodyLimit } from './shared/adapter-options.ts'
import { answerOrParams } from './shared/answer-or-params.ts'
import { bodyTooLarge } from './shared/body-errors.ts'
import { readFetchBody } from './shared/fetch-body.ts'
import { toFetchInit } from './shared/fetch-response.ts'

/** What the options find in `req.context`. */
export interface RequestContext {
  /** The context of Hono: set headers with `c.header()`, the handler keeps them. */
  c: HonoContext
}

/** Options of the handler for Hono. */
export interface HandlerOptions<Context extends OperationContext = undefined>
  extends CoreOptions<globalThis.Request, RequestContext, Context>,
    AdapterOptions {}

/**
 * Makes a GraphQL-over-HTTP handler for Hono, on any runtime. Hono itself has no status text, so only
 * the number of a status is sent.
 *
 * ```ts
 * import { Hono } from 'hono'
 * import { createHandler } from '@portcullis/graphql-over-http/use/hono'
 *
 * const app = new Hono()
 * app.all('/graphql', createHandler({ schema }))
 * ```
 */
export function createHandler<Context extends OperationContext = undefined>(
  options: HandlerOptions<Context>,
): (c: HonoContext) => Promise<globalThis.Response> {
  const handle = adapt(options, { toRequest, answer })
  return (c) => handle(c, undefined)
}

/**
 * Reads the parameters of a request without executing it. Resolves to a response instead when the
 * request breaks the protocol; malformed parameters throw.
 */
export async function parseRequestParams(
  c: HonoContext,
  options: AdapterOptions = {},
): Promise<RequestParams | globalThis.Response> {
  return answerOrParams(toRequest(c, undefined, parseBodyLimit(options)), (response) =>
    answer(response, options.vary === true, c),
  )
}

function toRequest(
  c: HonoContext,
  _next: unknown,
  limitBytes: number,
): Request<globalThis.Request, RequestContext> {
  const { raw } = c.req
  return {
    url: raw.url,
    method: raw.method,
    headers: raw.headers,
    body: () => readHonoBody(c, limitBytes),
    raw,
    context: { c },
  }
}

/** Hono remembers a body that middleware has read through it, in whatever form. */
async function readHonoBody(c: HonoContext, limitBytes: number): Promise<string> {
  const { raw, bodyCache } = c.req
  if (!raw.bodyUsed || Object.keys(bodyCache).length === 0) return readFetchBody(raw, limitBytes)
  const text = await c.req.text()
  if (new TextEncoder().encode(text).byteLength > limitBytes) throw bodyTooLarge(limitBytes)
  return text
}

function answer(response: Response, vary: boolean, c: HonoContext): globalThis.Response {
  // Appended to what middleware has set; a value in the answer itself replaces that.
  const isReplaced = response[1].headers?.['vary'] !== undefined
  if (vary && !isReplaced) c.header('vary', 'Accept', { append: true })
  const { body, status, headers } = toFetchInit(response, vary && isReplaced)
  return c.newResponse(body, status as StatusCode, headers)
}
