import type { ExecutionResult } from 'graphql'
import type { Client, ClientOptions, FetchInit, MaybeHeaders } from './client-options.ts'
import {
  addResult,
  contentTypeOf,
  discard,
  type FetchResponse,
  readResult,
} from './client-response.ts'
import { NetworkError } from './network-error.ts'
import type { RequestParams, Sink } from './request.ts'
import { findSimilarOption } from './similar-option.ts'

export type {
  Client,
  ClientHeaders,
  ClientOptions,
  FetchFn,
  FetchInit,
} from './client-options.ts'
export type { FetchResponse } from './client-response.ts'
export { NetworkError, type ResponseLike } from './network-error.ts'
export type { RequestParams, Sink } from './request.ts'

/**
 * Creates a client for a GraphQL server.
 *
 * @example
 * ```ts
 * import { createClient } from '@portcullis/graphql-over-http/client'
 *
 * const client = createClient({ url: 'http://localhost:4000/graphql' })
 * const { data } = await client.execute({ query: '{ hello }' })
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const {
    url,
    credentials,
    referrer,
    referrerPolicy,
    headers,
    shouldRetry,
    fetchFn = globalThis.fetch,
    abortControllerImpl: Abort = globalThis.AbortController,
    acceptGraphQLErrors,
    ...unknown
  } = options ?? {}
  for (const name of Object.keys(unknown)) {
    // graphql-http ignores unknown options, so only a probable misspelling is an error.
    const similar = findSimilarOption(name, OPTION_NAMES)
    check(!similar, `unknown option "${name}". Did you mean "${similar}"?`)
  }
  if (typeof url !== 'function') checkUrl(url)
  if (typeof headers !== 'function') toHeaders(headers)
  check(!shouldRetry || typeof shouldRetry === 'function', '`shouldRetry` must be a function')
  check(
    typeof fetchFn === 'function',
    '`fetchFn` must be a function where there is no global fetch',
  )
  check(
    typeof Abort === 'function',
    '`abortControllerImpl` must be a class where there is no global AbortController',
  )

  let isDisposed = false
  // The cancel functions of open requests. A request is open as long as it is in this set, so
  // nothing is kept about a settled request.
  const inFlight = new Set<() => void>()

  const attempt = async (
    address: string,
    init: FetchInit,
  ): Promise<FetchResponse | NetworkError<FetchResponse>> => {
    try {
      const response = await fetchFn(address, init)
      return response.ok ||
        (acceptGraphQLErrors && /\/graphql-response\+json/i.test(contentTypeOf(response)))
        ? response
        : addResult(new NetworkError(response))
    } catch (error) {
      return addResult(new NetworkError(error as Error | FetchResponse))
    }
  }

  /** Resolves to the server's result, or to undefined once the request is no longer open. */
  const send = async (
    request: RequestParams,
    signal: AbortSignal,
    isOpen: () => boolean,
  ): Promise<unknown> => {
    // Only these four: the spec does not allow clients to add other properties.
    const { query, operationName, variables, extensions } = request
    const body = JSON.stringify({ query, operationName, variables, extensions })

    for (let retries = 0; ; retries++) {
      const address = checkUrl(typeof url === 'function' ? await url(request) : url)
      if (!isOpen()) return
      const sentHeaders = toHeaders(typeof headers === 'function' ? await headers() : headers)
      if (!isOpen()) return
      const answer = await attempt(address, {
        method: 'POST',
        headers: sentHeaders,
        body,
        signal,
        // Some worker runtimes reject these keys, whatever their value.
        ...(credentials && { credentials }),
        ...(referrer != null && { referrer }),
        ...(referrerPolicy && { referrerPolicy }),
      })
      const hasFailed = answer instanceof NetworkError
      if (isOpen()) {
        if (!hasFailed) return readResult(answer)
        const isRetried = await shouldRetry?.(answer, retries)
        if (isOpen() && !isRetried) throw answer
      }
      void discard(hasFailed ? answer.response : answer)
      if (!isOpen()) return
    }
  }

  const dispose = (): void => {
    isDisposed = true
    for (const cancel of inFlight) cancel()
  }
  const closeClient = async (): Promise<void> => dispose()

  const subscribe = (request: RequestParams, sink: Sink): (() => void) => {
    if (isDisposed) throw new Error('Client has been disposed')
    check(typeof request?.query === 'string', 'the request must have a string as `query`')
    check(
      typeof sink?.next === 'function' &&
        typeof sink.error === 'function' &&
        typeof sink.complete === 'function',
      'the sink must have the methods `next`, `error` and `complete`',
    )

    const control = new Abort()
    const isOpen = (): boolean => inFlight.has(cancel)
    const cancel = (): void => {
      if (!inFlight.delete(cancel)) return
      control.abort()
      // Called without waiting for fetch, which may ignore the signal.
      queueMicrotask(() => close(() => sink.complete()))
    }
    inFlight.add(cancel)

    const run = async (): Promise<void> => {
      let end = (): void => sink.complete()
      try {
        // A custom controller may have its own signal type, for a custom fetch.
        const result = await send(request, control.signal as AbortSignal, isOpen)
        if (isOpen()) sink.next(result)
      } catch (error) {
        end = () => sink.error(error)
      }
      if (inFlight.delete(cancel)) close(end)
    }
    void run()
    return cancel
  }

  /** Turns a request into a promise of its result, or of `done` if it was cancelled. */
  const start = <T>(
    request: RequestParams,
  ): { outcome: Promise<IteratorResult<T, undefined>>; cancel: () => void } => {
    let cancel = (): void => {}
    const outcome = new Promise<IteratorResult<T, undefined>>((resolve, reject) => {
      cancel = subscribe(request, {
        next: (value: T) => resolve({ value, done: false }),
        error: reject,
        complete: () => resolve({ value: undefined, done: true }),
      })
    })
    return { outcome, cancel }
  }

  return {
    subscribe,

    iterate: <Data, Extensions>(request: RequestParams) => {
      const { outcome, cancel } = start<ExecutionResult<Data, Extensions>>(request)
      // An unread iterator of a failed request must not cause an unhandled rejection.
      outcome.catch(() => {})
      let isRead = false
      return {
        [Symbol.asyncIterator]() {
          return this
        },
        async next() {
          if (isRead) return { value: undefined, done: true }
          isRead = true
          return outcome
        },
        async return(value) {
          isRead = true
          cancel()
          return { value: await value, done: true }
        },
      }
    },

    execute: async <Data, Extensions>(
      request: RequestParams,
      { signal }: { readonly signal?: AbortSignal | null | undefined } = {},
    ) => {
      const toError = (): unknown =>
        signal?.reason ?? Object.assign(new Error('Request was aborted'), { name: 'AbortError' })
      if (signal?.aborted) throw toError()
      const { outcome, cancel } = start<ExecutionResult<Data, Extensions>>(request)
      signal?.addEventListener('abort', cancel)
      try {
        const { value, done } = await outcome
        if (done) throw toError()
        return value
      } finally {
        // The signal may outlive many requests.
        signal?.removeEventListener('abort', cancel)
      }
    },

    close: closeClient,
    [Symbol.asyncDispose]: closeClient,
    dispose,
  }
}

const OPTION_NAMES: readonly (keyof ClientOptions)[] = [
  'url',
  'headers',
  'shouldRetry',
  'acceptGraphQLErrors',
  'credentials',
  'referrer',
  'referrerPolicy',
  'fetchFn',
  'abortControllerImpl',
]

function check(condition: unknown, message: string): asserts condition {
  if (!condition) throw new TypeError(`GraphQL client: ${message}`)
}

function checkUrl(url: unknown): string {
  check(url && typeof url === 'string', '`url` must be a string, or a function that returns one')
  return url
}

/**
 * Lower-case names, so that a user's `Accept` replaces the default instead of being sent beside it.
 */
function toHeaders(given: MaybeHeaders): Record<string, string> {
  check(
    given == null || typeof given === 'object',
    '`headers` must be an object, or a function that returns one',
  )
  const headers: Record<string, string> = {}
  const entries = given && Symbol.iterator in given ? given : Object.entries(given ?? {})
  for (const [name, value] of entries) {
    if (value != null) headers[name.toLowerCase()] = value
  }
  headers['content-type'] = 'application/json; charset=utf-8'
  // The HTTP spec recommends this value when it is unknown which types the server supports.
  headers['accept'] = 'application/graphql-response+json, application/json;q=0.9'
  return headers
}

/**
 * Makes the last call to a sink. An error that it throws is only logged, because the sink cannot be
 * called again.
 */
function close(lastCall: () => void): void {
  try {
    lastCall()
  } catch (error) {
    console.error(error)
  }
}
