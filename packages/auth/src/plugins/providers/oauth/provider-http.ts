import { type HttpLimits, OutgoingError, request } from '../../../outgoing/http-client.ts'

/** Objects of JSON, as providers answer. */
export type JsonObject = Readonly<Record<string, unknown>>

export interface ProviderRequest {
  readonly headers?: Readonly<Record<string, string>>
  /** Posted as a form; otherwise the request is a GET. */
  readonly form?: Readonly<Record<string, string>>
}

/** The one way out to providers: so long, so many bytes, and no redirects. */
export interface ProviderHttp {
  /** @throws {OutgoingError} unless the answer is an object of JSON, or a form. */
  ask(url: string, request?: ProviderRequest): Promise<JsonObject>
  /** For answers that are lists. @throws {OutgoingError} */
  askList(url: string, request?: ProviderRequest): Promise<readonly JsonObject[]>
  /** The same limits, for a library that fetches by itself. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
}

export function createProviderHttp(limits: HttpLimits): ProviderHttp {
  const read = (url: string, init: RequestInit) =>
    request(url, { ...init, redirect: 'error' }, limits)

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
    const code = isObject(body) && typeof body['error'] === 'string' ? body['error'] : undefined
    if (isOk && body !== undefined) return body
    const { host, pathname } = new URL(url)
    const what = isOk ? 'neither JSON nor a form' : `${status} ${code ?? ''}`
    throw new OutgoingError(`${host}${pathname} answered ${what}`.trim(), {
      status,
      ...(code !== undefined && { code: code.slice(0, 100) }),
    })
  }

  return {
    async ask(url, request) {
      const body = await ask(url, request)
      if (isObject(body)) return body
      throw new OutgoingError(`${new URL(url).host} answered JSON that is not an object`)
    },
    async askList(url, request) {
      const body = await ask(url, request)
      if (Array.isArray(body)) return body.filter(isObject)
      throw new OutgoingError(`${new URL(url).host} answered JSON that is not a list`)
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
