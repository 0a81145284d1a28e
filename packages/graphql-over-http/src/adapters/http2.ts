import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { HandlerOptions as CoreOptions, OperationContext } from '../options.ts'
import type { RequestParams } from '../request.ts'
import type { AdapterOptions } from './shared/adapter-options.ts'
import { createNodeHandler, parseNodeParams } from './shared/node-server.ts'

/** The type of `req.context` in the options. */
export interface RequestContext {
  /** The native response. Headers and cookies that you set on it are sent. */
  res: Http2ServerResponse
}

/** Options of the handler for Node's HTTP/2 server. */
export interface HandlerOptions<Context extends OperationContext = undefined>
  extends CoreOptions<Http2ServerRequest, RequestContext, Context>,
    AdapterOptions {}

/**
 * Makes a GraphQL-over-HTTP handler for Node's own HTTP/2 server, with or without TLS. On a server
 * with `allowHTTP1`, it also serves HTTP/1 clients.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { createSecureServer } from 'node:http2'
 * import { createHandler } from '@portcullis/graphql-over-http/use/http2'
 * import { buildSchema } from 'graphql'
 *
 * const schema = buildSchema('type Query { hello: String }')
 * const handler = createHandler({ schema })
 *
 * const key = readFileSync('key.pem')
 * const cert = readFileSync('cert.pem')
 * createSecureServer({ key, cert }, (req, res) => {
 *   if (req.url.startsWith('/graphql')) handler(req, res)
 *   else res.writeHead(404).end()
 * }).listen(4000)
 * ```
 */
export function createHandler<Context extends OperationContext = undefined>(
  options: HandlerOptions<Context>,
): (req: Http2ServerRequest, res: Http2ServerResponse) => Promise<void> {
  return createNodeHandler('http2', options)
}

/**
 * Reads the parameters of a request without executing it. When the request breaks the protocol, the
 * error response is written to `res` and the promise resolves to null; malformed parameters throw.
 */
export async function parseRequestParams(
  req: Http2ServerRequest,
  res: Http2ServerResponse,
  options: AdapterOptions = {},
): Promise<RequestParams | null> {
  return parseNodeParams(req, res, options)
}
