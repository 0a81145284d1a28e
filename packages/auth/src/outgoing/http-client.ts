import { toReason } from '@portcullis/service-kit/text/reason'

export interface HttpLimits {
  readonly timeoutMs: number
  readonly maxBytes: number
}

export interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

interface OutgoingDetails {
  /** The HTTP status of the response, if there was one. */
  readonly status?: number
  /** The error code in the response: `invalid_client`, … */
  readonly code?: string
  readonly cause?: unknown
}

/**
 * An outgoing request has failed. The message is for the log of the operator: it names the host,
 * and nothing else of the request, which may contain credentials.
 */
export class OutgoingError extends Error {
  override readonly name = 'OutgoingError'
  readonly status: number | undefined
  readonly code: string | undefined

  constructor(message: string, { status, code, cause }: OutgoingDetails = {}) {
    super(message, { cause })
    this.status = status
    this.code = code
  }
}

/**
 * Sends one request to a configured host, with limits for time and size. The caller chooses how
 * redirects are handled; following them would send the credentials of the request to another host.
 * @throws {OutgoingError}
 */
export async function request(
  url: string,
  init: RequestInit & { readonly redirect: 'manual' | 'error' },
  { timeoutMs, maxBytes }: HttpLimits,
  stopped?: AbortSignal,
): Promise<HttpResponse> {
  const timeout = AbortSignal.timeout(timeoutMs)
  const signal = stopped === undefined ? timeout : AbortSignal.any([timeout, stopped])
  const { host } = new URL(url)
  try {
    const response = await fetch(url, { ...init, signal })
    const text = await readLimited(response.body ?? [], maxBytes)
    if (text === undefined) {
      throw new OutgoingError(`the response of ${host} is longer than ${maxBytes} bytes`)
    }
    return { status: response.status, headers: response.headers, text }
  } catch (error) {
    if (timeout.aborted) {
      throw new OutgoingError(`${host} did not respond within ${timeoutMs} ms`, { cause: error })
    }
    if (error instanceof TypeError) {
      const message = `${host} cannot be reached: ${toReason(error.cause ?? error)}`
      throw new OutgoingError(message, { cause: error })
    }
    throw error
  }
}

export interface OutgoingPost {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body:
    | { readonly form: Readonly<Record<string, string>> }
    | { readonly json: Readonly<Record<string, string>> }
}

export interface PostResponse {
  readonly status: number
  /** Parsed JSON; undefined if the response is not JSON. */
  readonly body: unknown
}

/** Posts a form or JSON, and reads JSON. @throws {OutgoingError} */
export async function post(
  { url, headers = {}, body }: OutgoingPost,
  limits: HttpLimits,
  stopped?: AbortSignal,
): Promise<PostResponse> {
  const init = {
    method: 'POST',
    redirect: 'manual',
    headers: {
      accept: 'application/json',
      'user-agent': 'portcullis-auth',
      ...('json' in body && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: 'json' in body ? JSON.stringify(body.json) : new URLSearchParams(body.form),
  } as const
  const { status, text } = await request(url, init, limits, stopped)
  return { status, body: parseJson(text) }
}

/** Undefined if the body is longer; the remaining part is not read. */
export async function readLimited(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
