import type { Response } from '../../request.ts'
import { toVaryingHeaders } from './response-headers.ts'

export interface FetchInit {
  readonly body: string | null
  readonly status: number
  readonly statusText: string
  readonly headers: { readonly [name: string]: string }
}

/** The arguments for the constructor of a fetch response. */
export function toFetchInit([body, init]: Response, vary: boolean): FetchInit {
  const headers = toVaryingHeaders(init, vary)
  const isEmpty = isWithoutBody(init.status)
  // Some runtimes would otherwise send an empty body with chunked encoding.
  if (body === null && !isEmpty) headers['content-length'] = '0'
  return {
    body: isEmpty ? null : body,
    status: init.status,
    statusText: init.statusText ?? '',
    headers,
  }
}

/**
 * The "null body statuses" of the fetch standard: a response with one of these throws if given a
 * body.
 */
function isWithoutBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}
