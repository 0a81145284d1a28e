import type { HandlerOptions as CoreOptions, OperationContext } from '../options.ts'
import type { Request, RequestHeaders, RequestParams, Response } from '../request.ts'
import { adapt } from './shared/adapt.ts'
import { type AdapterOptions, type BodyLimits, parseBodyLimits } from './shared/adapter-options.ts'
import { answerOrParams } from './shared/answer-or-params.ts'
import { fromEvent } from './shared/parsed-body.ts'
import { toVaryingHeaders } from './shared/response-headers.ts'
import { STATUS_CODES } from './shared/status-texts.ts'

type Single = { readonly [name: string]: string | undefined } | null | undefined
type Multi = { readonly [name: string]: readonly string[] | undefined } | null | undefined

interface EventBody {
  readonly body?: string | null | undefined
  readonly isBase64Encoded: boolean
}

/** Event of a REST API, of an HTTP API with payload format 1.0, or of an application load balancer. */
export interface ProxyEvent extends EventBody {
  /** The HTTP method. */
  readonly httpMethod: string
  /** The path, without the query string. */
  readonly path: string
  /** The last value of each header. */
  readonly headers?: Single
  /** All values of each header. */
  readonly multiValueHeaders?: Multi
  /** The last value of each parameter. */
  readonly queryStringParameters?: Single
  /** All values of each parameter. */
  readonly multiValueQueryStringParameters?: Multi
  /** Has the key `elb` when the event comes from a load balancer. */
  readonly requestContext: object
}

/** Event of an HTTP API with payload format 2.0, or of a function URL. */
export interface HttpApiEvent extends EventBody {
  /** The path, without the query string. */
  readonly rawPath: string
  /** The query string, without the question mark. */
  readonly rawQueryString: string
  /** The headers; several values of one are joined with commas. */
  readonly headers: { readonly [name: string]: string | undefined }
  /** Has the HTTP method. */
  readonly requestContext: { readonly http: { readonly method: string } }
}

/** An event of any source that the handler understands. */
export type LambdaEvent = ProxyEvent | HttpApiEvent

/**
 * The type of `req.context` in the options: the context of the Lambda function. The platform's own type
 * is assignable to it.
 */
export interface LambdaContext {
  /** The name of the function. */
  readonly functionName: string
  /** The id of the invocation. */
  readonly awsRequestId: string
  /** The milliseconds until the invocation times out. */
  getRemainingTimeInMillis(): number
}

/** The type of `req.context` in the options. */
export type RequestContext = LambdaContext

/** The result of the function, in a shape that all event sources accept. */
export interface LambdaResult {
  /** The status code. */
  statusCode: number
  /** The status code and its reason phrase, for load balancers. */
  statusDescription?: string
  /** The response headers. */
  headers?: { [name: string]: string }
  /** The headers with lists of values, for load balancers with multi-value headers enabled. */
  multiValueHeaders?: { [name: string]: string[] }
  /** The body as text. */
  body: string
  /** Whether the body is encoded; always false. */
  isBase64Encoded: boolean
}

/** Options of the handler for AWS Lambda. */
export interface HandlerOptions<
  Context extends OperationContext = undefined,
  Event extends LambdaEvent = LambdaEvent,
> extends CoreOptions<Event, LambdaContext, Context>,
    AdapterOptions {}

/**
 * Makes a GraphQL-over-HTTP handler for AWS Lambda behind a REST API, an HTTP API, a function URL or
 * an application load balancer.
 *
 * @example
 * ```ts
 * import { createHandler } from '@portcullis/graphql-over-http/use/aws-lambda'
 * import { buildSchema } from 'graphql'
 *
 * const schema = buildSchema('type Query { hello: String }')
 * export const handler = createHandler({ schema })
 * ```
 */
export function createHandler<
  Context extends OperationContext = undefined,
  Event extends LambdaEvent = LambdaEvent,
>(
  options: HandlerOptions<Context, Event>,
): (event: Event, context: LambdaContext) => Promise<LambdaResult> {
  return adapt(options, {
    host: 'aws-lambda',
    isHost: (event) => event?.requestContext !== undefined,
    toRequest: toRequest<Event>,
    answer,
  })
}

/**
 * Reads the parameters of a request without executing it. Resolves to the function's result instead
 * when the request breaks the protocol; malformed parameters throw.
 */
export async function parseRequestParams(
  event: LambdaEvent,
  context: LambdaContext,
  options: AdapterOptions = {},
): Promise<RequestParams | LambdaResult> {
  return answerOrParams(toRequest(event, context, parseBodyLimits(options)), (response) =>
    answer(response, options.vary === true, event),
  )
}

function toRequest<Event extends LambdaEvent>(
  event: Event,
  context: LambdaContext,
  limits: BodyLimits,
): Request<Event, LambdaContext> {
  const target = 'rawPath' in event ? fromHttpApi(event) : fromProxy(event)
  return {
    ...target,
    body: fromEvent(event.body, event.isBase64Encoded, target.headers, limits.read),
    raw: event,
    context,
  }
}

interface Target {
  readonly url: string
  readonly method: string
  readonly headers: RequestHeaders
}

function fromHttpApi(event: HttpApiEvent): Target {
  return {
    url: `${event.rawPath}?${event.rawQueryString}`,
    method: event.requestContext.http.method,
    headers: event.headers,
  }
}

function fromProxy(event: ProxyEvent): Target {
  return {
    url: `${event.path}?${toQuery(event)}`,
    method: event.httpMethod,
    headers: joinValues(event.multiValueHeaders) ?? event.headers ?? {},
  }
}

function toQuery(event: ProxyEvent): string {
  // Load balancers pass the query string on without decoding it; the gateways decode it.
  const encode = isLoadBalancer(event) ? (text: string) => text : encodeURIComponent
  const pairs: string[] = []
  const multi = event.multiValueQueryStringParameters
  const all = multi ?? event.queryStringParameters ?? {}
  for (const name of Object.keys(all)) {
    const value = all[name]
    for (const each of typeof value === 'string' ? [value] : (value ?? [])) {
      pairs.push(`${encode(name)}=${encode(each)}`)
    }
  }
  return pairs.join('&')
}

function joinValues(multi: Multi): RequestHeaders | undefined {
  if (!multi) return undefined
  const headers: { [name: string]: string } = {}
  for (const name of Object.keys(multi)) {
    const values = multi[name]
    if (values) headers[name] = values.join(name.toLowerCase() === 'cookie' ? '; ' : ', ')
  }
  return headers
}

function isLoadBalancer(event: LambdaEvent): boolean {
  return 'elb' in event.requestContext
}

function answer([body, init]: Response, vary: boolean, event: LambdaEvent): LambdaResult {
  const headers = toVaryingHeaders(init, vary)
  const result: LambdaResult = { statusCode: init.status, body: body ?? '', isBase64Encoded: false }
  if (isLoadBalancer(event)) {
    const text = init.statusText || (STATUS_CODES[init.status] ?? '')
    result.statusDescription = `${init.status} ${text}`
  }
  // A load balancer with multi-value headers enabled also requires them in the response.
  if (!event.headers) {
    result.multiValueHeaders = {}
    for (const name of Object.keys(headers)) {
      const value = headers[name]
      if (value !== undefined) result.multiValueHeaders[name] = [value]
    }
  } else result.headers = headers
  return result
}
