import { openHandler } from '../handler.ts'
import type { HandlerOptions as CoreOptions, OperationContext } from '../options.ts'
import type { Request, RequestParams, Response } from '../request.ts'
import {
  type AdapterOptions,
  adapterOptionNames,
  type BodyLimits,
  parseBodyLimits,
} from './shared/adapter-options.ts'
import { answerOrParams } from './shared/answer-or-params.ts'
import { explain, internalError, reportFailure } from './shared/error-responses.ts'
import { HostRequest } from './shared/host-request.ts'
import { isWithoutLength, toVaryingHeaders } from './shared/response-headers.ts'
import { STATUS_CODES } from './shared/status-texts.ts'
import { openUwsBody } from './shared/uws-body.ts'
import { refuseHost } from './shared/wrong-host.ts'

/** The part of uWebSockets' request that the adapter uses. */
export interface HttpRequest {
  /** The HTTP method, in lower case. */
  getMethod(): string
  /** The path, without the query string. */
  getUrl(): string
  /** The query string, without the question mark. */
  getQuery(): string | undefined
  /** Calls back with each header. */
  forEach(callback: (name: string, value: string) => void): void
}

/** The part of uWebSockets' response that the adapter uses. */
export interface HttpResponse {
  /** Calls back when the client disconnects before the response ends. */
  onAborted(callback: () => void): unknown
  /** Calls back with each part of the body. */
  onData(callback: (chunk: ArrayBuffer, isLast: boolean) => void): unknown
  /** Sends everything that the callback writes in one batch. */
  cork(callback: () => void): unknown
  /** Writes the status code and its reason phrase. */
  writeStatus(status: string): unknown
  /** Writes a response header. */
  writeHeader(name: string, value: string): unknown
  /** Writes the body and ends the response. */
  end(body?: string): unknown
  /** Ends the response to a HEAD request. */
  endWithoutBody(reportedContentLength?: number): unknown
}

/** The type of `req.context` in the options. */
export interface RequestContext<Res extends HttpResponse = HttpResponse> {
  /**
   * The native response. Headers can be written only after the status, so writing one in an option
   * commits the status 200.
   */
  res: Res
}

/**
 * Options of the handler for uWebSockets.
 *
 * The native request in `req.raw` is valid only until the first `await`, a limitation of uWebSockets.
 * `req.url`, `req.method` and `req.headers` are copies and stay valid.
 */
export interface HandlerOptions<
  Context extends OperationContext = undefined,
  Res extends HttpResponse = HttpResponse,
  Req extends HttpRequest = HttpRequest,
> extends CoreOptions<Req, RequestContext<Res>, Context>,
    AdapterOptions {}

/**
 * Makes a GraphQL-over-HTTP handler for uWebSockets.
 *
 * ```ts
 * import uWS from 'uWebSockets.js'
 * import { createHandler } from '@portcullis/graphql-over-http/use/uws'
 *
 * uWS.App()
 *   .any('/graphql', createHandler({ schema }))
 *   .listen(4000, () => {})
 * ```
 */
export function createHandler<
  Context extends OperationContext = undefined,
  Res extends HttpResponse = HttpResponse,
  Req extends HttpRequest = HttpRequest,
>(options: HandlerOptions<Context, Res, Req>): (res: Res, req: Req) => Promise<void> {
  const handle = openHandler(options, adapterOptionNames)
  const limits = parseBodyLimits(options)
  const vary = options.vary === true
  return async (res, native) => {
    if (res?.onAborted === undefined || native?.getMethod === undefined) {
      return refuseHost('uws', res, native)
    }
    const disconnect: DisconnectState = { current: false }
    const req = toRequest(res, native, limits, disconnect)
    try {
      const response = explain(await handle(req))
      // Using an aborted response throws.
      if (!disconnect.current) write(res, req, response, vary)
    } catch (error) {
      reportFailure(error)
      if (!disconnect.current) writeFailure(res, req)
    }
  }
}

/**
 * Reads the parameters of a request without executing it. When the request breaks the protocol, the
 * error response is written to `res` and the promise resolves to null; malformed parameters throw.
 *
 * @param disconnect - becomes true when the client disconnects: check it before using `res` again.
 */
export async function parseRequestParams(
  native: HttpRequest,
  res: HttpResponse,
  disconnect: { current: boolean } = { current: false },
  options: AdapterOptions = {},
): Promise<RequestParams | null> {
  const req = toRequest(res, native, parseBodyLimits(options), disconnect)
  return answerOrParams(req, (response) => {
    if (!disconnect.current) write(res, req, response, options.vary === true)
    return null
  })
}

/**
 * Copies everything synchronously: the native request is invalid after the first `await`, and a
 * body without a listener is dropped.
 */
function toRequest<Res extends HttpResponse, Req extends HttpRequest>(
  res: Res,
  native: Req,
  limits: BodyLimits,
  disconnect: DisconnectState,
): Request<Req, RequestContext<Res>> {
  const method = native.getMethod().toUpperCase()
  const query = native.getQuery()
  const headers: { [name: string]: string } = Object.create(null)
  native.forEach((name, value) => {
    const present = headers[name]
    headers[name] =
      present === undefined ? value : present + (name === 'cookie' ? '; ' : ', ') + value
  })
  const body =
    method === 'GET' || method === 'HEAD' ? undefined : openUwsBody(res, limits.read, headers)
  res.onAborted(() => {
    disconnect.current = true
    body?.abort()
    disconnect.controller?.abort()
  })
  return new HostRequest(
    {
      url: query ? `${native.getUrl()}?${query}` : native.getUrl(),
      method,
      headers,
      body: body === undefined ? null : body.read,
      raw: native,
      context: { res },
    },
    openUwsSignal,
    disconnect,
  )
}

/** Whether the client has disconnected, and the controller to abort when it does. */
interface DisconnectState {
  current: boolean
  controller?: AbortController
}

function openUwsSignal(disconnect: DisconnectState): AbortSignal {
  const controller = new AbortController()
  if (disconnect.current) controller.abort()
  disconnect.controller = controller
  return controller.signal
}

function write(
  res: HttpResponse,
  req: Request<unknown, unknown>,
  [body, init]: Response,
  vary: boolean,
): void {
  const { status } = init
  const headers = toVaryingHeaders(init, vary)
  res.cork(() => {
    res.writeStatus(`${status} ${init.statusText || (STATUS_CODES[status] ?? '')}`)
    for (const name in headers) {
      const value = headers[name]
      if (value !== undefined) res.writeHeader(name, value)
    }
    if (isWithoutLength(status)) res.endWithoutBody()
    else if (body === null) res.endWithoutBody(0)
    else if (req.method === 'HEAD') res.endWithoutBody(Buffer.byteLength(body))
    else res.end(body)
  })
}

function writeFailure(res: HttpResponse, req: Request<unknown, unknown>): void {
  try {
    write(res, req, internalError, false)
  } catch {
    // An option has already ended the response, so nothing more can be written to it.
  }
}
