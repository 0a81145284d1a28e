/**
 * The parameters of a GraphQL request, however they arrived: URL query or JSON body.
 *
 * @see https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters
 */
export interface RequestParams {
  /** The GraphQL document. */
  query: string
  /** Which operation of the document to execute. Default: its only one. */
  operationName?: string | null | undefined
  /** The values of variables, by name. Default: none. */
  variables?: Record<string, unknown> | null | undefined
  /** Whatever client and server agree on. Default: none. */
  extensions?: Record<string, unknown> | null | undefined
}

/**
 * Request headers: a plain map, as Node has them, or anything with a `get` method, as fetch has them.
 */
export type RequestHeaders =
  | {
      /** Node keeps this one as a list, always. */
      readonly 'set-cookie'?: string | string[] | undefined
      readonly [key: string]: string | string[] | undefined
    }
  | { readonly get: (name: string) => string | null }

/**
 * The plain request the core handler works on. Adapters build it from the host's own request.
 *
 * @typeParam Raw - the host's native request.
 * @typeParam Context - what the adapter adds; in Node adapters it holds the native response.
 */
export interface Request<Raw, Context> {
  /** The HTTP method, in capitals. */
  readonly method: string
  /** Absolute or relative: only the search part is read. */
  readonly url: string
  /** The request headers. */
  readonly headers: RequestHeaders
  /** Already parsed, as text, or a function that reads it; the function is called for POST only. */
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
  /** What the adapter adds. */
  readonly context: Context
  /**
   * Aborts when the client goes away before it is answered. Undefined on hosts that cannot tell, such
   * as serverless functions.
   */
  readonly signal?: AbortSignal | undefined
}

/** A map of text, so that it fits wherever headers go: `writeHead`, a fetch response. */
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

/** What the core handler answers with: body text or null, and how to send it. */
export type Response = readonly [body: ResponseBody | null, init: ResponseInit]

/** Receives what becomes of one client request. */
export interface Sink<T = unknown> {
  /** Gets the result. */
  next(value: T): void
  /** Gets the reason when there is no result. Nothing follows. */
  error(error: unknown): void
  /** Called after the result, or when the request was cancelled. Nothing follows. */
  complete(): void
}

/** First value of a header by its lower-case name; repeated values come joined with a comma. */
export function getHeader(headers: RequestHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined
  const map = headers as { readonly [key: string]: string | string[] | undefined }
  let value = map[name]
  if (value === undefined) {
    // Serverless events and hand-written tests keep the client's spelling.
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
 * Tells a response pair from anything else a hook may return. The status must be a number, so that
 * a context value which happens to be a pair of null and an object is not taken for an answer.
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
 * A response without a body, which adapters send with a message. The core leaves the body out, as
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

/** A failed read of the request body that has an answer of its own, such as 413. */
export class BodyError extends Error {
  override readonly name = 'BodyError'
  readonly response: Response

  constructor(message: string, response: Response) {
    super(message)
    this.response = response
  }
}
