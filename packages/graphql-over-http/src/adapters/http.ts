import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HandlerOptions as CoreOptions, OperationContext } from '../options.ts'
import type { RequestParams } from '../request.ts'
import type { AdapterOptions } from './shared/adapter-options.ts'
import { createNodeHandler, parseNodeParams } from './shared/node-server.ts'

/** The type of `req.context` in the options. */
export interface RequestContext {
  /** The native response. Headers and cookies that you set on it are sent. */
  res: ServerResponse
}

/** Options of the handler for Node's HTTP/1 server. */
export interface HandlerOptions<Context extends OperationContext = undefined>
  extends CoreOptions<IncomingMessage, RequestContext, Context>,
    AdapterOptions {}

/**
 * Makes a GraphQL-over-HTTP handler for Node's own HTTP/1 server.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { createHandler } from '@portcullis/graphql-over-http/use/http'
 * import { buildSchema } from 'graphql'
 *
 * const schema = buildSchema('type Query { hello: String }')
 * const handler = createHandler({ schema })
 *
 * createServer((req, res) => {
 *   if (req.url?.startsWith('/graphql')) handler(req, res)
 *   else res.writeHead(404).end()
 * }).listen(4000)
 * ```
 */
export function createHandler<Context extends OperationContext = undefined>(
  options: HandlerOptions<Context>,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return createNodeHandler('http', options)
}

/**
 * Reads the parameters of a request without executing it. When the request breaks the protocol, the
 * error response is written to `res` and the promise resolves to null; malformed parameters throw.
 */
export async function parseRequestParams(
  req: IncomingMessage,
  res: ServerResponse,
  options: AdapterOptions = {},
): Promise<RequestParams | null> {
  return parseNodeParams(req, res, options)
}
