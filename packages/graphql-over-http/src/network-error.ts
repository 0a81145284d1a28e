/** The part of a fetch response that tells how a request went. */
export interface ResponseLike {
  readonly ok: boolean
  readonly status: number
  readonly statusText: string
}

/**
 * A request without a usable answer: it never reached the server, or the server refused it. Only
 * these are offered to `shouldRetry`.
 */
export class NetworkError<R extends ResponseLike = ResponseLike> extends Error {
  // A literal: minifiers rename classes, and `constructor.name` with them.
  override readonly name = 'NetworkError'
  /** What the server answered, its body unread; undefined when there was no answer. */
  readonly response: R | undefined

  constructor(source: string | Error | R) {
    if (typeof source === 'string') {
      super(source)
    } else if ('ok' in source) {
      super(`Server responded with ${source.status}: ${source.statusText}`)
      this.response = source
    } else {
      super(source.message, { cause: source })
    }
  }
}
