import type { HandlerOptions as CoreOptions, OperationContext } from '../options.ts'
import type { Request, RequestParams, Response } from '../request.ts'
import { adapt } from './shared/adapt.ts'
import { type AdapterOptions, type BodyLimits, parseBodyLimits } from './shared/adapter-options.ts'
import { answerOrParams } from './shared/answer-or-params.ts'
import { fromEvent } from './shared/parsed-body.ts'
import { toVaryingHeaders } from './shared/response-headers.ts'

/** What the adapter reads from the event. The platform's own type is assignable to it. */
export interface HandlerEvent {
  /** The HTTP method. */
  readonly httpMethod: string
  /** The whole address, with the query string. */
  readonly rawUrl: string
  /** The request headers. */
  readonly headers: { readonly [name: string]: string | undefined }
  /** The body, encoded as `isBase64Encoded` says; null when there is none. */
  readonly body: string | null
  /** Whether the body is encoded in base64. */
  readonly isBase64Encoded: boolean
}

/** The type of `req.context` in the options: the context of the function. */
export interface HandlerContext {
  /** The name of the function. */
  readonly functionName: string
  /** The id of the invocation. */
  readonly awsRequestId: string
  /** What the platform knows about the signed-in user. */
  readonly clientContext?: { readonly [key: string]: unknown } | undefined
  /** The milliseconds until the invocation times out. */
  getRemainingTimeInMillis(): number
}

/** The type of `req.context` in the options. */
export type RequestContext = HandlerContext

/** The response of the function. */
export interface HandlerResponse {
  /** The status code. */
  statusCode: number
  /** The response headers. */
  headers?: { [name: string]: string }
  /** The body as text. */
  body?: string
}

/** Options of the handler for Netlify functions. */
export interface HandlerOptions<
  Context extends OperationContext = undefined,
  Event extends HandlerEvent = HandlerEvent,
> extends CoreOptions<Event, HandlerContext, Context>,
    AdapterOptions {}

/**
 * Makes a GraphQL-over-HTTP handler for Netlify functions that take an event. Functions of the newer
 * shape, from `Request` to `Response`, use the fetch adapter.
 *
 * @example
 * ```ts
 * import { createHandler } from '@portcullis/graphql-over-http/use/netlify'
 * import { buildSchema } from 'graphql'
 *
 * const schema = buildSchema('type Query { hello: String }')
 * export const handler = createHandler({ schema })
 * ```
 */
export function createHandler<
  Context extends OperationContext = undefined,
  Event extends HandlerEvent = HandlerEvent,
>(
  options: HandlerOptions<Context, Event>,
): (event: Event, context: HandlerContext) => Promise<HandlerResponse> {
  return adapt(options, {
    host: 'netlify',
    isHost: (event) => event?.rawUrl !== undefined && event.httpMethod !== undefined,
    toRequest: toRequest<Event>,
    answer,
  })
}

/**
 * Reads the parameters of a request without executing it. Resolves to the function's response
 * instead when the request breaks the protocol; malformed parameters throw.
 */
export async function parseRequestParams(
  event: HandlerEvent,
  context: HandlerContext,
  options: AdapterOptions = {},
): Promise<RequestParams | HandlerResponse> {
  return answerOrParams(toRequest(event, context, parseBodyLimits(options)), (response) =>
    answer(response, options.vary === true),
  )
}

function toRequest<Event extends HandlerEvent>(
  event: Event,
  context: HandlerContext,
  limits: BodyLimits,
): Request<Event, HandlerContext> {
  const { headers } = event
  return {
    url: event.rawUrl,
    method: event.httpMethod,
    headers,
    body: fromEvent(event.body, event.isBase64Encoded, headers, limits.read),
    raw: event,
    context,
  }
}

function answer([body, init]: Response, vary: boolean): HandlerResponse {
  const headers = toVaryingHeaders(init, vary)
  const response: HandlerResponse = { statusCode: init.status, headers }
  // Netlify does not accept null as a body.
  if (body !== null) response.body = body
  return response
}
