import type { Request, RequestHeaders, Response } from '../../src/request.ts'

export const J = 'application/json'
export const GR = 'application/graphql-response+json'

export type PlainRequest = Request<undefined, undefined>

/** The parsed body of a response; without a body it is empty. */
export interface AnswerBody {
  readonly data?: { readonly [field: string]: unknown } | null
  readonly errors?: readonly {
    readonly message: string
    readonly path?: readonly unknown[]
    readonly extensions?: { readonly [key: string]: unknown }
  }[]
  readonly extensions?: { readonly [key: string]: unknown }
}

/** The parts of a response pair that tests check. */
export interface Answer {
  readonly status: number
  /** The media type without its charset, or null when the header is missing. */
  readonly type: string | null
  readonly body: string | null
  readonly json: AnswerBody
}

/** A plain request; by default an empty POST with JSON. */
export function request(parts: Partial<PlainRequest> = {}): PlainRequest {
  return {
    method: 'POST',
    url: '/graphql',
    headers: { 'content-type': J },
    body: null,
    raw: undefined,
    context: undefined,
    ...parts,
  }
}

/** Parameters over GET; maps are encoded in the URL as JSON. */
export function get(params: object, headers: RequestHeaders = {}): PlainRequest {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    search.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return request({ method: 'GET', url: `/graphql?${search}`, headers })
}

/**
 * A body over POST: text is sent unchanged, anything else as JSON. The body is read through a
 * function.
 */
export function post(body: unknown, headers: Record<string, string> = {}): PlainRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return request({ headers: { 'content-type': J, ...headers }, body: async () => text })
}

export function accepting(req: PlainRequest, accept: string | undefined): PlainRequest {
  return accept === undefined ? req : { ...req, headers: { ...req.headers, accept } }
}

export function toAnswer([body, { status, headers }]: Response): Answer {
  const type = headers?.['content-type']?.split(';')[0] ?? null
  return { status, type, body, json: JSON.parse(body ?? '{}') }
}
