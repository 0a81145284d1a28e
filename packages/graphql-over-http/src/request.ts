/**
 * The parameters of a GraphQL request, from the URL query or the JSON body.
 *
 * @see https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters
 */
export interface RequestParams {
  /** The GraphQL document. */
  query: string
  /** Which operation of the document to execute. Default: the only operation. */
  operationName?: string | null | undefined
  /** The values of variables, by name. Default: none. */
  variables?: Record<string, unknown> | null | undefined
  /** Entries that client and server agree on. Default: none. */
  extensions?: Record<string, unknown> | null | undefined
}

/** Request headers: a plain map, as in Node, or any object with a `get` method, as in fetch. */
export type RequestHeaders =
  | {
      /** Node always keeps this header as a list. */
      readonly 'set-cookie'?: string | string[] | undefined
      readonly [key: string]: string | string[] | undefined
    }
  | { readonly get: (name: string) => string | null }

/**
 * The plain request that the core handler works on. Adapters build it from the host's own request.
 *
 * @typeParam Raw - the host's native request.
 * @typeParam Context - what the adapter adds; in Node adapters it contains the native response.
 */
export interface Request<Raw, Context> {
  /** The HTTP method, in upper case. */
  readonly method: string
  /** Absolute or relative; only the query string is read. */
  readonly url: string
  /** The request headers. */
  readonly headers: RequestHeaders
  /**
   * The body: already parsed, as text, or as a function that reads it, which is called for POST
   * only.
   */
  readonly body:
    | string
    | Record<string, unknown>
    | null
    | (() =>
        | string
        | Record<string, unknown>
        | null
        | Promise<string | Record<string, unknown> | null>)
  /** The host's own request. */
  readonly raw: Raw
  /** Data that the adapter passes to the options, such as the response of the host. */
  readonly context: Context
  /**
   * Aborts when the client disconnects before the response. Undefined on hosts that cannot detect
   * it, such as serverless functions.
   */
  readonly signal?: AbortSignal | undefined
}

/** A map of strings, which `writeHead` and fetch responses both accept. */
export type ResponseHeaders = {
  accept?: string
  allow?: string
  'content-type'?: string
} & Record<string, string>

/** The body of a response, as text. */
export type ResponseBody = string

/** How to send a response. */
export interface ResponseInit {
  /** The status code. */
  readonly status: number
  /** The reason phrase of the status. */
  readonly statusText: string
  /** The response headers. Default: none. */
  readonly headers?: ResponseHeaders
}

/** The response of the core handler: body text or null, and how to send it. */
export type Response = readonly [body: ResponseBody | null, init: ResponseInit]

/** Receives the outcome of one client request. */
export interface Sink<T = unknown> {
  /** Gets the result. */
  next(value: T): void
  /** Gets the error when there is no result. No further call follows. */
  error(error: unknown): void
  /** Called after the result, or when the request was cancelled. No further call follows. */
  complete(): void
}

/** The value of a header by its lower-case name; several values are joined with commas. */
export function getHeader(headers: RequestHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const map = headers as { readonly [key: string]: string | string[] | undefined }
  let value = map[name]
  if (value === undefined) {
    // Serverless events and hand-written tests keep the client's capitalization.
    for (const key in map) {
      if (key.length === name.length && key.toLowerCase() === name) {
        value = map[key]
        break
      }
    }
  }
  return Array.isArray(value) ? value.join(', ') : value
}

/**
 * Distinguishes a response pair from anything else that a hook may return. The status must be a
 * number, so that a context value that happens to be a pair of null and an object is not taken for
 * a response.
 */
export function isResponse(value: unknown): value is Response {
  return (
    Array.isArray(value) &&
    (value[0] === null || typeof value[0] === 'string') &&
    typeof value[1]?.status === 'number'
  )
}

const explanations = new WeakMap<Response, string>()

/**
 * A response without a body, to which adapters add a message. The core leaves the body out, as
 * graphql-http does.
 */
export function createRefusal(
  status: number,
  statusText: string,
  message: string,
  headers?: ResponseHeaders,
): Response {
  const refusal: Response = [
    null,
    headers ? { status, statusText, headers } : { status, statusText },
  ]
  explanations.set(refusal, message)
  return refusal
}

/** The message of a refusal, or undefined for any other response. */
export function getExplanation(response: Response): string | undefined {
  return explanations.get(response)
}

/** A failed read of the request body that has its own response, such as 413. */
export class BodyError extends Error {
  override readonly name = 'BodyError'
  readonly response: Response

  constructor(message: string, response: Response) {
    super(message)
    this.response = response
  }
}
