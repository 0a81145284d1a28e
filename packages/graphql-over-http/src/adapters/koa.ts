import type { IncomingMessage } from 'node:http'
import type {
  DefaultContext,
  DefaultState,
  Response as KoaResponse,
  Middleware,
  ParameterizedContext,
} from 'koa'
import type { HandlerOptions as CoreOptions, OperationContext } from '../options.ts'
import type { Request, RequestParams, Response } from '../request.ts'
import { adapt } from './shared/adapt.ts'
import { type AdapterOptions, type BodyLimits, parseBodyLimits } from './shared/adapter-options.ts'
import { answerOrParams } from './shared/answer-or-params.ts'
import { HostRequest } from './shared/host-request.ts'
import { openNodeSignal } from './shared/node-signal.ts'
import { parsedOrStreamed } from './shared/parsed-body.ts'
import { isWithoutLength, toHeaders, varyByAccept } from './shared/response-headers.ts'

/** The type of `req.context` in the options. */
export interface RequestContext {
  /** The response of Koa. Headers and cookies that you set on it are sent. */
  res: KoaResponse
}

/** Options of the handler for Koa. */
export interface HandlerOptions<Context extends OperationContext = undefined>
  extends CoreOptions<IncomingMessage, RequestContext, Context>,
    AdapterOptions {}

/**
 * Makes a GraphQL-over-HTTP handler for Koa 2 and 3.
 *
 * @example
 * ```ts
 * import { createHandler } from '@portcullis/graphql-over-http/use/koa'
 * import { buildSchema } from 'graphql'
 * import Koa from 'koa'
 * import mount from 'koa-mount'
 *
 * const schema = buildSchema('type Query { hello: String }')
 * const app = new Koa()
 * app.use(mount('/graphql', createHandler({ schema })))
 * app.listen(4000)
 * ```
 *
 * Mount the handler before any body parser. Behind one it uses `ctx.request.body`.
 */
export function createHandler<
  Context extends OperationContext = undefined,
  State = DefaultState,
  KoaContext = DefaultContext,
>(options: HandlerOptions<Context>): Middleware<State, KoaContext> {
  return adapt(options, {
    host: 'koa',
    isHost: (ctx) => ctx?.request !== undefined && ctx.response !== undefined,
    toRequest,
    answer,
  })
}

/**
 * Reads the parameters of a request without executing it. When the request breaks the protocol, the
 * error response is set on `ctx` and the promise resolves to null; malformed parameters throw.
 */
export async function parseRequestParams(
  ctx: ParameterizedContext,
  options: AdapterOptions = {},
): Promise<RequestParams | null> {
  return answerOrParams(toRequest(ctx, undefined, parseBodyLimits(options)), (response) => {
    answer(response, options.vary === true, ctx)
    return null
  })
}

/** The part of Koa's context that does not depend on the type of its state or extensions. */
type Exchange = Pick<ParameterizedContext, 'req' | 'res' | 'request' | 'response'>

function toRequest(
  ctx: Exchange,
  _next: unknown,
  limits: BodyLimits,
): Request<IncomingMessage, RequestContext> {
  const { req, request, response } = ctx
  const parsed = 'body' in request ? request.body : undefined
  return new HostRequest(
    {
      url: request.url,
      method: request.method,
      headers: request.headers,
      body: parsedOrStreamed(parsed, req, limits),
      raw: req,
      context: { res: response },
    },
    openNodeSignal,
    ctx.res,
  )
}

/**
 * Koa derives status and type from the body, so the body is set first and status and type
 * afterwards.
 */
function answer([body, init]: Response, vary: boolean, { response: res }: Exchange): void {
  // With a JSON content type Koa would send the text "null".
  if (body === null) res.remove('content-type')
  const hadType = res.get('content-type') !== ''
  res.body = body
  if (!hadType) res.remove('content-type')
  res.status = init.status
  if (body === null && !isWithoutLength(init.status)) res.length = 0
  // HTTP/2 has no status text; Node prints a warning when given one.
  if (init.statusText && res.req.httpVersionMajor < 2) res.message = init.statusText
  res.set(toHeaders(init))
  if (vary) res.set('vary', varyByAccept(res.get('vary')))
}
