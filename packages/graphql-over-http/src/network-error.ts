import type { ExecutionResult } from 'graphql'

/** The part of a fetch response that tells how a request went. */
export interface ResponseLike {
  /** Whether the status is 200 to 299. */
  readonly ok: boolean
  /** The status code. */
  readonly status: number
  /** The reason phrase; empty with HTTP/2. */
  readonly statusText: string
}

/**
 * A request without a usable answer: it never reached the server, or the server refused it. Only
 * these are offered to `shouldRetry`.
 */
export class NetworkError<R extends ResponseLike = ResponseLike> extends Error {
  // A literal: minifiers rename classes, and `constructor.name` with them.
  override name = 'NetworkError'
  /** What the server answered, its body unread; undefined when there was no answer. */
  response: R | undefined
  /**
   * The GraphQL result in the body of `response`, if it has one. Its `errors` say what the server refused;
   * their messages are also the message of `cause`.
   */
  result: ExecutionResult<unknown, unknown> | undefined

  /** The client creates these errors. A response becomes `response`, an error becomes `cause`. */
  constructor(source: string | Error | R) {
    if (isResponse(source)) {
      super(`Server responded with ${source.status}: ${source.statusText}`)
      this.response = source
    } else if (source instanceof Error) super(source.message, { cause: source })
    else super(String(source))
  }
}

/** What a fetch throws can be anything, also null; some throw the response. */
function isResponse<R extends ResponseLike>(source: string | Error | R): source is R {
  return typeof Object(source).ok === 'boolean'
}
