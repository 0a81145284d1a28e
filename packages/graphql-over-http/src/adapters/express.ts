import type { Request as ExpressRequest, Response as ExpressResponse, Handler } from 'express'
import type { HandlerOptions as CoreOptions, OperationContext } from '../options.ts'
import type { Request, RequestParams } from '../request.ts'
import { adapt } from './shared/adapt.ts'
import { type AdapterOptions, type BodyLimits, parseBodyLimits } from './shared/adapter-options.ts'
import { answerOrParams } from './shared/answer-or-params.ts'
import { HostRequest } from './shared/host-request.ts'
import { writeNodeResponse } from './shared/node-response.ts'
import { openNodeSignal } from './shared/node-signal.ts'
import { parsedOrStreamed } from './shared/parsed-body.ts'
import { isNodeExchange } from './shared/wrong-host.ts'

/** The type of `req.context` in the options. */
export interface RequestContext {
  /** The response of Express. Headers and cookies that you set on it are sent. */
  res: ExpressResponse
}

/** Options of the handler for Express. */
export interface HandlerOptions<Context extends OperationContext = undefined>
  extends CoreOptions<ExpressRequest, RequestContext, Context>,
    AdapterOptions {}

/**
 * Makes a GraphQL-over-HTTP handler for Express 4 and 5.
 *
 * @example
 * ```ts
 * import { createHandler } from '@portcullis/graphql-over-http/use/express'
 * import express from 'express'
 * import { buildSchema } from 'graphql'
 *
 * const schema = buildSchema('type Query { hello: String }')
 * const app = express()
 * app.all('/graphql', createHandler({ schema }))
 * app.listen(4000)
 * ```
 *
 * Mount the handler before any body parser: `express.json()` answers malformed and large bodies
 * itself, in HTML. Behind a parser for JSON, text or raw bytes the handler uses `req.body`.
 */
export function createHandler<Context extends OperationContext = undefined>(
  options: HandlerOptions<Context>,
): Handler {
  return adapt(options, {
    host: 'express',
    isHost: isNodeExchange,
    toRequest,
    answer: writeNodeResponse,
  })
}

/**
 * Reads the parameters of a request without executing it. When the request breaks the protocol, the
 * error response is written to `res` and the promise resolves to null; malformed parameters throw.
 */
export async function parseRequestParams(
  req: ExpressRequest,
  res: ExpressResponse,
  options: AdapterOptions = {},
): Promise<RequestParams | null> {
  return answerOrParams(toRequest(req, res, parseBodyLimits(options)), (response) => {
    writeNodeResponse(response, options.vary === true, req, res)
    return null
  })
}

function toRequest(
  req: ExpressRequest,
  res: ExpressResponse,
  limits: BodyLimits,
): Request<ExpressRequest, RequestContext> {
  return new HostRequest(
    {
      url: req.url,
      method: req.method,
      headers: req.headers,
      body: parsedOrStreamed(req.body, req, limits),
      raw: req,
      context: { res },
    },
    openNodeSignal,
    res,
  )
}
