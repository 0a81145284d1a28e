// Types of `await using`, for consumers whose `lib` lacks them.
/// <reference lib="esnext.disposable" preserve="true" />

import type { ExecutionResult } from 'graphql'
import type { FetchResponse } from './client-response.ts'
import type { NetworkError } from './network-error.ts'
import type { RequestParams, Sink } from './request.ts'

/** What `fetchFn` is given besides the address. */
export interface FetchInit {
  /** Requests are always sent with POST. */
  readonly method: 'POST'
  /** Names in lower case. */
  readonly headers: Record<string, string>
  /** The parameters of the request as JSON. */
  readonly body: string
  /** Aborts when the request is cancelled. */
  readonly signal: AbortSignal
  /** As in the options of the client; absent where they have none. */
  readonly credentials?: 'omit' | 'same-origin' | 'include'
  /** As in the options of the client; absent where they have none. */
  readonly referrer?: string
  /** As in the options of the client; absent where they have none. */
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
  /** Address of the server. A function is asked again for each attempt. */
  url: string | ((request: RequestParams) => string | Promise<string>)
  /** When cookies are sent. Default: what `fetch` does, `same-origin`. */
  credentials?: FetchInit['credentials'] | undefined
  /** What is sent as `Referer`. Default: what `fetch` does, the address of the page. */
  referrer?: string | undefined
  /** How much of it is sent. Default: what `fetch` does. */
  referrerPolicy?: FetchInit['referrerPolicy'] | undefined
  /** Sent with each request. A function is asked again for each attempt, and may return nothing. */
  headers?: ClientHeaders | (() => MaybeHeaders | Promise<MaybeHeaders>) | undefined
  /**
   * Decides whether a request that failed is sent again; without it none is. `retries` is 0 after
   * the first failure. The place to wait before the next attempt. An error thrown here is reported
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
   * HTTP spec advises (R50). By default any status outside 2xx is a NetworkError.
   */
  acceptGraphQLErrors?: boolean | undefined
}

/** A client for one GraphQL server, made by {@link createClient}. */
export interface Client extends AsyncDisposable {
  /**
   * Sends a request. The sink gets `next` and then `complete`, or else `error`, never before this
   * call returns. The function returned aborts the request; the sink then gets `complete` only.
   */
  subscribe<Data = Record<string, unknown>, Extensions = Record<string, unknown>>(
    request: RequestParams,
    sink: Sink<ExecutionResult<Data, Extensions>>,
  ): () => void
  /** Sends a request. The iterator yields its one result; `return()` aborts it. */
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
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
  /** The same as `close()`, by the name that it has in graphql-http. */
  dispose(): void
}
