import type { ExecutionResult } from 'graphql'

/** The part of a fetch response that describes its status. */
export interface ResponseLike {
  /** Whether the status is 200 to 299. */
  readonly ok: boolean
  /** The status code. */
  readonly status: number
  /** The reason phrase; empty with HTTP/2. */
  readonly statusText: string
}

/**
 * A request without a usable response: it never reached the server, or the server refused it. Only
 * these errors are passed to `shouldRetry`.
 */
export class NetworkError<R extends ResponseLike = ResponseLike> extends Error {
  // A literal, because minifiers rename classes and thereby change `constructor.name`.
  override name = 'NetworkError'
  /** The server's response with its body unread; undefined if there was no response. */
  response: R | undefined
  /**
   * The GraphQL result in the body of `response`, if there is one. Its `errors` say why the server
   * refused the request; their messages are also the message of `cause`.
   */
  result: ExecutionResult<unknown, unknown> | undefined

  /**
   * Only the client creates these errors. A response becomes `response`, an error becomes `cause`.
   */
  constructor(source: string | Error | R) {
    if (isResponse(source)) {
      super(`Server responded with ${source.status}: ${source.statusText}`)
      this.response = source
    } else if (source instanceof Error) super(source.message, { cause: source })
    else super(String(source))
  }
}

/** A fetch function may throw anything, including null; some throw the response. */
function isResponse<R extends ResponseLike>(source: string | Error | R): source is R {
  return typeof Object(source).ok === 'boolean'
}
