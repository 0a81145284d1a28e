import { randomUUID } from 'node:crypto'

export interface HttpAnswer {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary fields
  readonly body: any
  readonly headers: Headers
}

export interface RequestOptions {
  readonly method?: string
  readonly body?: unknown
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A server that responds with 408 to every request must fail the test instead of blocking it. */
const mostAttempts = 10

/**
 * Repeats a request that the server has not received. The server closes a connection whose headers
 * take longer than two seconds, and a busy machine may be slower (RFC 9110, section 15.5.9).
 */
export const fetchReceived: typeof fetch = async (target, options) => {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(target, options)
    if (response.status !== 408 || attempt === mostAttempts) return response
    await response.body?.cancel()
  }
}

/** Sends a plain HTTP request without a version header. */
export async function send(
  url: string,
  path: string,
  options: RequestOptions = {},
): Promise<HttpAnswer> {
  const { body, token, headers = {} } = options
  const response = await fetchReceived(`${url}${path}`, {
    method: options.method ?? (body === undefined ? 'GET' : 'POST'),
    redirect: 'manual',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = /^application\/(?:\w+\+)?json/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    // A response to HEAD has no body.
    body: isJson && text !== '' ? JSON.parse(text) : text,
    headers: response.headers,
  }
}

/** The header that the client library sends with every request. */
export const sdk = { 'x-supabase-api-version': '2024-01-01' } as const

export function newEmail(): string {
  return `user-${randomUUID()}@example.com`
}

export const password = 'correct horse battery'
