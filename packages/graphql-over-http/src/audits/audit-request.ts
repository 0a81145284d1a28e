import { requestWithoutAccept } from './without-accept.ts'

export const JSON_TYPE = 'application/json'
export const GRAPHQL_TYPE = 'application/graphql-response+json'

/** The request of one audit, without the address. It is plain data, so that reports can show it. */
export interface AuditRequest {
  /** The HTTP method. */
  readonly method: 'GET' | 'POST' | 'PUT'
  /** The header `accept`. Default: none is set. */
  readonly accept?: string
  /** The header `content-type`. Default: none is set. */
  readonly contentType?: string
  /** Parameters of the URL. */
  readonly search?: { readonly [name: string]: string }
  /** The body as text. Default: none. */
  readonly body?: string
  /** How to send the request without headers that `fetch` adds on its own. Default: as text, by `fetch`. */
  readonly wire?: 'bytes' | 'without-accept'
}

/** The part of `fetch` that audits need. */
export type AuditFetch = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Record<string, string>
    readonly body?: string | Uint8Array<ArrayBuffer>
  },
) => Response | Promise<Response>

export interface AuditTarget {
  readonly url: string | Promise<string> | (() => string | Promise<string>)
  readonly headers: { readonly [name: string]: string }
  readonly fetchFn: AuditFetch
}

/** A POST with a JSON body; a string is sent unchanged. */
export function post(
  body: unknown,
  accept?: string,
  contentType: string = JSON_TYPE,
): AuditRequest {
  return {
    method: 'POST',
    contentType,
    ...(accept !== undefined && { accept }),
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  }
}

export function get(search: { readonly [name: string]: string }, accept?: string): AuditRequest {
  return { method: 'GET', search, ...(accept !== undefined && { accept }) }
}

export async function sendRequest(request: AuditRequest, target: AuditTarget): Promise<Response> {
  const base = typeof target.url === 'function' ? await target.url() : await target.url
  const url = request.search ? addSearch(base, request.search) : base
  const init = {
    method: request.method,
    headers: {
      ...target.headers,
      ...(request.accept !== undefined && { accept: request.accept }),
      ...(request.contentType !== undefined && { 'content-type': request.contentType }),
    },
  }
  if (request.body === undefined) return target.fetchFn(url, init)
  // A byte array has no media type, so fetch adds no content-type header.
  const body = request.wire === 'bytes' ? new TextEncoder().encode(request.body) : request.body
  return request.wire === 'without-accept'
    ? requestWithoutAccept(url, { ...init, body: request.body })
    : target.fetchFn(url, { ...init, body })
}

/** Unlike `new URL`, this works on relative addresses too. */
function addSearch(url: string, search: { readonly [name: string]: string }): string {
  const [address = ''] = url.split('#', 1)
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams(search)}`
}
