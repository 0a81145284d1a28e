import type { HandlerOptions as CoreOptions, OperationContext } from '../options.ts'
import type { Request, RequestParams, Response } from '../request.ts'
import { adapt } from './shared/adapt.ts'
import { type AdapterOptions, type BodyLimits, parseBodyLimits } from './shared/adapter-options.ts'
import { answerOrParams } from './shared/answer-or-params.ts'
import { isFetchRequest, openFetchSignal, readFetchBody } from './shared/fetch-body.ts'
import { toFetchInit } from './shared/fetch-response.ts'
import { HostRequest } from './shared/host-request.ts'

/** The parts of the fetch API that an implementation other than the global one may supply. */
export interface FetchAPI {
  /** Creates responses. Default: the global class. */
  Response: typeof globalThis.Response
  /** Default: the global class. */
  ReadableStream: typeof globalThis.ReadableStream
  /** Default: the global class. */
  TextEncoder: typeof globalThis.TextEncoder
}

/** The type of `req.context` in the options. */
export type RequestContext = FetchAPI

/** Options of the handler for runtimes with a fetch API. */
export interface HandlerOptions<Context extends OperationContext = undefined>
  extends CoreOptions<globalThis.Request, FetchAPI, Context>,
    AdapterOptions {}

/**
 * Makes a GraphQL-over-HTTP handler for runtimes with a fetch API: Deno, Bun, workers, route handlers
 * of web frameworks.
 *
 * @example
 * ```ts
 * import { createHandler } from '@portcullis/graphql-over-http/use/fetch'
 * import { buildSchema } from 'graphql'
 *
 * const schema = buildSchema('type Query { hello: String }')
 * const handler = createHandler({ schema })
 *
 * // Bun, Cloudflare Workers and `deno serve` take such an export.
 * export const server = {
 *   fetch: (req: Request) =>
 *     new URL(req.url).pathname === '/graphql' ? handler(req) : new Response(null, { status: 404 }),
 * }
 * ```
 */
export function createHandler<Context extends OperationContext = undefined>(
  options: HandlerOptions<Context>,
  api: Partial<FetchAPI> = {},
): (req: globalThis.Request) => Promise<globalThis.Response> {
  const context = withDefaults(api)
  const handle = adapt(options, { host: 'fetch', isHost: isFetchRequest, toRequest, answer })
  // The extra arguments reveal a host that needs another adapter, such as Node's, which passes a
  // response.
  return (req: globalThis.Request, ...rest: readonly unknown[]) =>
    handle(req, isFetchRequest(req) ? context : (rest[0] as FetchAPI))
}

/**
 * Reads the parameters of a request without executing it. Resolves to a response instead when the
 * request breaks the protocol; malformed parameters throw.
 */
export async function parseRequestParams(
  req: globalThis.Request,
  api: Partial<FetchAPI> = {},
  options: AdapterOptions = {},
): Promise<RequestParams | globalThis.Response> {
  const context = withDefaults(api)
  return answerOrParams(toRequest(req, context, parseBodyLimits(options)), (response) =>
    answer(response, options.vary === true, req, context),
  )
}

function withDefaults(api: Partial<FetchAPI>): FetchAPI {
  return {
    Response: api.Response ?? globalThis.Response,
    ReadableStream: api.ReadableStream ?? globalThis.ReadableStream,
    TextEncoder: api.TextEncoder ?? globalThis.TextEncoder,
  }
}

function toRequest(
  req: globalThis.Request,
  context: FetchAPI,
  limits: BodyLimits,
): Request<globalThis.Request, FetchAPI> {
  return new HostRequest(
    {
      url: req.url,
      method: req.method,
      headers: req.headers,
      body: () => readFetchBody(req, limits.read),
      raw: req,
      context,
    },
    openFetchSignal,
    req,
  )
}

function answer(
  response: Response,
  vary: boolean,
  _req: globalThis.Request,
  api: FetchAPI,
): globalThis.Response {
  const { body, ...init } = toFetchInit(response, vary)
  return new api.Response(body, init)
}
