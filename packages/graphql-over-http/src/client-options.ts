// The types for `await using`, for consumers whose `lib` does not have them.
/// <reference lib="esnext.disposable" preserve="true" />

import type { ExecutionResult } from 'graphql'
import type { FetchResponse } from './client-response.ts'
import type { NetworkError } from './network-error.ts'
import type { RequestParams, Sink } from './request.ts'

/** The second argument of `fetchFn`. */
export interface FetchInit {
  /** Requests are always sent with POST. */
  readonly method: 'POST'
  /** The headers, with names in lower case. */
  readonly headers: Record<string, string>
  /** The parameters of the request as JSON. */
  readonly body: string
  /** Aborts when the request is cancelled. */
  readonly signal: AbortSignal
  /** Set from the client's option of the same name; absent without it. */
  readonly credentials?: 'omit' | 'same-origin' | 'include'
  /** Set from the client's option of the same name; absent without it. */
  readonly referrer?: string
  /** Set from the client's option of the same name; absent without it. */
  readonly referrerPolicy?:
    | 'no-referrer'
    | 'no-referrer-when-downgrade'
    | 'same-origin'
    | 'origin'
    | 'strict-origin'
    | 'origin-when-cross-origin'
    | 'strict-origin-when-cross-origin'
    | 'unsafe-url'
}

/** The part of `fetch` that the client needs. */
export type FetchFn = (url: string, init: FetchInit) => Promise<FetchResponse>

/** Header names to values. A header whose value is undefined is left out. */
export type ClientHeaders =
  | { readonly [name: string]: string | undefined }
  | Iterable<readonly [name: string, value: string]>

// void allows a function without a return statement.
export type MaybeHeaders = ClientHeaders | null | undefined | void

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** Address of the server. A function is called for each attempt. */
  url: string | ((request: RequestParams) => string | Promise<string>)
  /** Whether cookies are sent. Default: that of `fetch`, `same-origin`. */
  credentials?: FetchInit['credentials'] | undefined
  /** The value of `Referer`. Default: that of `fetch`, the address of the page. */
  referrer?: string | undefined
  /** How much of the referrer is sent. Default: that of `fetch`. */
  referrerPolicy?: FetchInit['referrerPolicy'] | undefined
  /**
   * Headers to send with each request. A function is called for each attempt, and may return
   * nothing.
   */
  headers?: ClientHeaders | (() => MaybeHeaders | Promise<MaybeHeaders>) | undefined
  /**
   * Decides whether a failed request is sent again. Default: never. `retries` is 0 after the first
   * failure. To delay the next attempt, wait in this function. An error thrown here is reported
   * instead of `err`.
   */
  shouldRetry?:
    | ((err: NetworkError<FetchResponse>, retries: number) => boolean | Promise<boolean>)
    | undefined
  /** Default: the global `fetch` at the time the client is created. */
  fetchFn?: FetchFn | undefined
  /** Default: the global `AbortController`. */
  abortControllerImpl?: (new () => { signal: object; abort(): void }) | undefined
  /**
   * Deliver an `application/graphql-response+json` body through `next` whatever its status, as the
   * HTTP spec recommends. By default any status outside 2xx is a NetworkError.
   */
  acceptGraphQLErrors?: boolean | undefined
}

/** A client for one GraphQL server, made by {@link createClient}. */
export interface Client extends AsyncDisposable {
  /**
   * Sends a request. The sink receives `next` and then `complete`, or else `error`, but never
   * before this call returns. The returned function aborts the request; the sink then receives
   * `complete` only.
   */
  subscribe<Data = Record<string, unknown>, Extensions = Record<string, unknown>>(
    request: RequestParams,
    sink: Sink<ExecutionResult<Data, Extensions>>,
  ): () => void
  /** Sends a request. The iterator yields its single result; `return()` aborts the request. */
  iterate<Data = Record<string, unknown>, Extensions = Record<string, unknown>>(
    request: RequestParams,
  ): AsyncIterableIterator<ExecutionResult<Data, Extensions>>
  /** Sends a request and resolves to its result. Aborting the signal rejects with its reason. */
  execute<Data = Record<string, unknown>, Extensions = Record<string, unknown>>(
    request: RequestParams,
    options?: { readonly signal?: AbortSignal | null | undefined },
  ): Promise<ExecutionResult<Data, Extensions>>
  /** Aborts all requests in flight and refuses new ones. */
  close(): Promise<void>
  /** An alias of `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
  /** An alias of `close()`, under its name in graphql-http. */
  dispose(): void
}
