// Reads what fetch brings back, and releases what is not read.

import type { ExecutionResult } from 'graphql'
import type { NetworkError, ResponseLike } from './network-error.ts'

/** What the client needs of a response: less than any known fetch has to offer. */
export interface FetchResponse extends ResponseLike {
  /** Of which `content-type` is read. */
  readonly headers: { get(name: string): string | null }
  /** Null when there is none. Absent where fetch has no streams, such as React Native. */
  readonly body?: unknown
  /** Reads the body as JSON. */
  json(): Promise<unknown>
  /** Copies the response, so that a failed one can be read and still be handed over unread. */
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
    // Not a GraphQL server: the status has to do.
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

/** Cancels a body that nobody will read, which would keep its connection busy. */
export async function discard(response: FetchResponse | undefined): Promise<void> {
  // A web stream, or with node-fetch one of Node's.
  const body = response?.body as { cancel?(): Promise<void>; destroy?(): void } | null | undefined
  try {
    await (body?.cancel ? body.cancel() : body?.destroy?.())
  } catch {
    // Locked: the user is reading it after all.
  }
}
