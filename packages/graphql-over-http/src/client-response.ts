// Reads the responses of fetch, and releases those that are not read.

import type { ExecutionResult } from 'graphql'
import type { NetworkError, ResponseLike } from './network-error.ts'

/** The part of a response that the client needs; every known fetch implementation has it. */
export interface FetchResponse extends ResponseLike {
  /** Only `content-type` is read. */
  readonly headers: { get(name: string): string | null }
  /** Null when there is no body. Absent where fetch has no streams, as in React Native. */
  readonly body?: unknown
  /** Reads the body as JSON. */
  json(): Promise<unknown>
  /** Copies the response, so that an error response can be read and still be passed on unread. */
  clone?(): FetchResponse
}

const jsonType = /application\/(graphql-response\+)?json/i

export function contentTypeOf(response: FetchResponse): string {
  return response.headers.get('content-type') ?? ''
}

export async function readResult(response: FetchResponse): Promise<unknown> {
  const type = contentTypeOf(response)
  let problem = ''
  if (response.body === null) problem = 'Missing response body'
  else if (!type) problem = 'Missing response content-type'
  else if (!jsonType.test(type)) problem = `Unsupported response content-type ${type}`
  if (!problem) return response.json()
  void discard(response)
  throw new Error(problem)
}

/** Adds the server's GraphQL errors to the error of a response that is not 2xx. */
export async function addResult(
  error: NetworkError<FetchResponse>,
): Promise<NetworkError<FetchResponse>> {
  const { response } = error
  try {
    if (!response?.clone || response.body === null) return error
    if (!jsonType.test(contentTypeOf(response))) return error
    const result = await response.clone().json()
    if (!isResult(result)) return error
    error.result = result
    const messages = (result.errors ?? []).map(({ message }) => message)
    if (messages.length > 0) error.cause ??= new Error(messages.join('\n'))
  } catch {
    // The body is not a GraphQL result, so the error has only the status.
  }
  return error
}

function isResult(value: unknown): value is ExecutionResult<unknown, unknown> {
  const { data, errors } = Object(value)
  return data !== undefined || (Array.isArray(errors) && errors.every(hasMessage))
}

function hasMessage(error: unknown): boolean {
  return typeof Object(error).message === 'string'
}

/** Cancels a body that will not be read, since it would keep its connection busy. */
export async function discard(response: FetchResponse | undefined): Promise<void> {
  // The body is a web stream, or a Node stream with node-fetch.
  const body = response?.body as { cancel?(): Promise<void>; destroy?(): void } | null | undefined
  try {
    await (body?.cancel ? body.cancel() : body?.destroy?.())
  } catch {
    // The stream is locked, because the user is reading it.
  }
}
