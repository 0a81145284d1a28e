import {
  type HttpAnswer,
  HttpClientError,
  type HttpLimits,
  request,
} from '../../outgoing/http-client.ts'

/** Objects of JSON, as providers answer. */
export type JsonObject = Readonly<Record<string, unknown>>

export interface ProviderRequest {
  readonly headers?: Readonly<Record<string, string>>
  /** Posted as a form; otherwise the request is a GET. */
  readonly form?: Readonly<Record<string, string>>
}

/** The one way out to providers: so long, so many bytes, and no redirects. */
export interface ProviderHttp {
  /** @throws {ProviderHttpError} unless the answer is an object of JSON, or a form. */
  ask(url: string, request?: ProviderRequest): Promise<JsonObject>
  /** For answers that are lists. @throws {ProviderHttpError} */
  askList(url: string, request?: ProviderRequest): Promise<readonly JsonObject[]>
  /** The same limits, for a library that fetches by itself. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
}

/** For the log of the operator: with the host, never with a token. */
export class ProviderHttpError extends Error {
  override readonly name = 'ProviderHttpError'
  readonly status: number | undefined
  /** The provider's own word for it: `invalid_client`, … */
  readonly reason: string | undefined

  constructor(
    message: string,
    details: { status?: number; reason?: string; cause?: unknown } = {},
  ) {
    super(message, { cause: details.cause })
    this.status = details.status
    this.reason = details.reason
  }
}

export function createProviderHttp(limits: HttpLimits): ProviderHttp {
  async function read(url: string, init: RequestInit): Promise<HttpAnswer> {
    try {
      return await request(url, { ...init, redirect: 'error' }, limits)
    } catch (error) {
      throw toProviderError(error, new URL(url).host, limits.timeoutMs)
    }
  }

  async function ask(url: string, { headers = {}, form }: ProviderRequest = {}): Promise<unknown> {
    const {
      status,
      headers: answered,
      text,
    } = await read(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: { accept: 'application/json', 'user-agent': 'portcullis-auth', ...headers },
      ...(form && { body: new URLSearchParams(form) }),
    })
    const body = parse(text, answered.get('content-type') ?? '')
    const isOk = status >= 200 && status < 300
    const reason = isObject(body) && typeof body['error'] === 'string' ? body['error'] : undefined
    if (isOk && body !== undefined) return body
    const { host, pathname } = new URL(url)
    const what = isOk ? 'neither JSON nor a form' : `${status} ${reason ?? ''}`
    throw new ProviderHttpError(`${host}${pathname} answered ${what}`.trim(), {
      status,
      ...(reason !== undefined && { reason: reason.slice(0, 100) }),
    })
  }

  return {
    async ask(url, request) {
      const body = await ask(url, request)
      if (isObject(body)) return body
      throw new ProviderHttpError(`${new URL(url).host} answered JSON that is not an object`)
    },
    async askList(url, request) {
      const body = await ask(url, request)
      if (Array.isArray(body)) return body.filter(isObject)
      throw new ProviderHttpError(`${new URL(url).host} answered JSON that is not a list`)
    },
    async fetch(url, init) {
      const { status, headers, text } = await read(url, init)
      return new Response(text, { status, headers })
    },
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Some answer a request for tokens as a form, and one of them calls it plain text. */
function parse(text: string, type: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    if (!/form-urlencoded|text\/plain/.test(type) || !text.includes('=')) return undefined
    return Object.fromEntries(new URLSearchParams(text))
  }
}

function toProviderError(error: unknown, host: string, timeoutMs: number): ProviderHttpError {
  const reason = error instanceof HttpClientError ? error.reason : 'unreachable'
  if (reason === 'too-long') return new ProviderHttpError(`${host} answered too much`)
  const why = reason === 'timeout' ? `did not answer within ${timeoutMs} ms` : 'cannot be reached'
  return new ProviderHttpError(`${host} ${why}`, {
    cause: error instanceof HttpClientError ? error.cause : error,
  })
}
