import {
  type HttpLimits,
  type HttpResponse,
  OutgoingError,
  request,
} from '../../../outgoing/http-client.ts'

/** A JSON object in a provider's response. */
export type JsonObject = Readonly<Record<string, unknown>>

export interface ProviderRequest {
  readonly headers?: Readonly<Record<string, string>>
  /** Posted as a form. When omitted, the request is a GET. */
  readonly form?: Readonly<Record<string, string>>
}

/** Sends all requests to providers, with a timeout and a size limit. Redirects are errors. */
export interface ProviderHttp {
  /** @throws {OutgoingError} unless the response is a JSON object or a form. */
  fetchObject(url: string, request?: ProviderRequest): Promise<JsonObject>
  /** For responses that are JSON arrays. @throws {OutgoingError} */
  fetchList(url: string, request?: ProviderRequest): Promise<readonly JsonObject[]>
  /** Applies the same limits to a library that calls fetch itself. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
}

type Send = (url: string, init: RequestInit, limits: HttpLimits) => Promise<HttpResponse>

const sendTo: Send = (url, init, limits) => request(url, { ...init, redirect: 'error' }, limits)

/** @param send sends one request and follows no redirect. */
export function createProviderHttp(limits: HttpLimits, send: Send = sendTo): ProviderHttp {
  const read = (url: string, init: RequestInit) => send(url, init, limits)

  async function fetchBody(
    url: string,
    { headers = {}, form }: ProviderRequest = {},
  ): Promise<unknown> {
    const {
      status,
      headers: responseHeaders,
      text,
    } = await read(url, {
      method: form === undefined ? 'GET' : 'POST',
      headers: { accept: 'application/json', 'user-agent': 'portcullis-auth', ...headers },
      ...(form && { body: new URLSearchParams(form) }),
    })
    const body = parse(text, responseHeaders.get('content-type') ?? '')
    const isOk = status >= 200 && status < 300
    const code = isObject(body) && typeof body['error'] === 'string' ? body['error'] : undefined
    if (isOk && body !== undefined) return body
    const { host, pathname } = new URL(url)
    const reason = (code ?? findExplanation(body) ?? '').slice(0, 200)
    const what = isOk ? 'neither JSON nor form data' : `${status} ${reason}`
    throw new OutgoingError(`${host}${pathname} responded with ${what}`.trim(), {
      status,
      ...(code !== undefined && { code: code.slice(0, 100) }),
    })
  }

  return {
    async fetchObject(url, request) {
      const body = await fetchBody(url, request)
      if (isObject(body)) return body
      throw new OutgoingError(`${new URL(url).host} responded with JSON that is not an object`)
    },
    async fetchList(url, request) {
      const body = await fetchBody(url, request)
      if (Array.isArray(body)) return body.filter(isObject)
      throw new OutgoingError(`${new URL(url).host} responded with JSON that is not an array`)
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

/** APIs that are not part of OAuth explain an error in one of these fields. */
function findExplanation(body: unknown): string | undefined {
  if (!isObject(body)) return undefined
  return [body['message'], body['msg'], body['detail']].find((text) => typeof text === 'string')
}

/** Some providers return tokens as form data, and one of them labels it text/plain. */
function parse(text: string, type: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    if (!/form-urlencoded|text\/plain/.test(type) || !text.includes('=')) return undefined
    return Object.fromEntries(new URLSearchParams(text))
  }
}
