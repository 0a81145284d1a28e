import { isJson, parseRange } from './negotiate.ts'
import {
  BodyError,
  createRefusal,
  getHeader,
  type Request,
  type RequestParams,
  type Response,
} from './request.ts'

/**
 * The request is valid JSON but not a GraphQL request. The 2026 draft has a separate status for
 * this.
 */
export class MalformedRequestError extends Error {}

type Json = { readonly [key: string]: unknown }

const isMap = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new MalformedRequestError(message)
}

/** Parameters that may identify a stored document instead of containing a query. */
export type LooseParams = Omit<RequestParams, 'query'> & {
  query?: string | undefined
  documentId?: string | undefined
}

function checkParams(params: Json, isQueryOptional: boolean): LooseParams {
  const { query, variables, operationName, extensions, documentId } = params
  const isStored = isQueryOptional && query == null && (documentId != null || extensions != null)
  assert(isStored || query != null, 'Missing query')
  assert(isStored || typeof query === 'string', 'Invalid query')
  assert(variables == null || isMap(variables), 'Invalid variables')
  assert(operationName == null || typeof operationName === 'string', 'Invalid operationName')
  assert(extensions == null || isMap(extensions), 'Invalid extensions')
  // An empty name counts as absent, since GET forms cannot leave a parameter out.
  const checked = {
    query: query as string | undefined,
    operationName: operationName === '' ? null : operationName,
    variables,
    extensions,
  }
  if (!isStored) return checked
  assert(documentId == null || typeof documentId === 'string', 'Invalid documentId')
  return { ...checked, query: undefined, documentId: documentId ?? undefined }
}

function parseUrl(url: string, isQueryOptional: boolean): LooseParams {
  const search = new URLSearchParams(url.replace(/^[^?]*/, ''))
  const parseMap = (name: string): unknown => {
    const text = search.get(name)
    try {
      return text ? JSON.parse(text) : undefined
    } catch {
      throw new MalformedRequestError('Unparsable URL')
    }
  }
  const params = {
    query: search.get('query'),
    operationName: search.get('operationName') ?? undefined,
    variables: parseMap('variables'),
    extensions: parseMap('extensions'),
    documentId: search.get('documentId'),
  }
  return checkParams(params, isQueryOptional)
}

/**
 * Reads the parameters of a request: from the URL for GET, from the JSON body for POST.
 *
 * Returns a response if the method or the content type is not supported, and throws if the
 * parameters are malformed.
 */
export async function parseRequestParams<Raw, Context>(
  req: Request<Raw, Context>,
): Promise<RequestParams | Response> {
  return (await readParams(req, false)) as RequestParams | Response
}

/**
 * Like `parseRequestParams`, but a request may identify a stored document instead of containing a
 * query.
 */
export async function readParams<Raw, Context>(
  req: Request<Raw, Context>,
  isQueryOptional: boolean,
): Promise<LooseParams | Response> {
  const { method, body } = req
  if (method === 'GET') return parseUrl(req.url, isQueryOptional)
  if (method !== 'POST') {
    const message = `Method ${method} is not allowed; use GET or POST`
    return createRefusal(405, 'Method Not Allowed', message, { allow: 'GET, POST' })
  }
  if (!isJson(getHeader(req.headers, 'content-type'))) {
    return createRefusal(
      415,
      'Unsupported Media Type',
      'The Content-Type of a POST must be application/json, in UTF-8',
    )
  }
  if (!body) throw new Error('Missing body')
  let data: unknown
  try {
    data = typeof body === 'function' ? await body() : body
    if (typeof data === 'string') {
      // RFC 8259, section 8.1: parsers may ignore a byte order mark.
      data = JSON.parse(data.charCodeAt(0) === 0xfeff ? data.slice(1) : data)
    }
  } catch (error) {
    throw error instanceof BodyError ? error : new Error('Unparsable JSON body')
  }
  // Arrays would be batches, which the HTTP spec does not define.
  assert(isMap(data), 'JSON body must be an object')
  return checkParams(data, isQueryOptional)
}

/** Content types that a page of another site can send without a preflight. */
const SIMPLE_TYPES = /^(|text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)$/
/**
 * Any of these headers makes a browser send a preflight. The last two are sent by Apollo's clients.
 */
const PREFLIGHT_HEADERS = [
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-apollo-operation-name',
]

/**
 * Returns the refusal of a POST request that a page of another site could have sent, with the
 * cookies of its user and without a preflight; undefined for all other requests.
 */
export function refuseCrossSite<Raw, Context>(req: Request<Raw, Context>): Response | undefined {
  // Browsers send a preflight before every other method that may have side effects.
  if (req.method.toUpperCase() !== 'POST') return undefined
  const [type] = parseRange(getHeader(req.headers, 'content-type')?.replace(/;.*/s, '') ?? '')
  if (!SIMPLE_TYPES.test(type)) return undefined
  if (PREFLIGHT_HEADERS.some((name) => getHeader(req.headers, name) !== undefined)) return undefined
  return createRefusal(
    415,
    'Unsupported Media Type',
    'Other sites can send this Content-Type. Send application/json, or the header ' +
      '"GraphQL-Require-Preflight: 1"; the option "csrfPrevention" turns this check off',
  )
}

/** Whether the method is safe (RFC 9110, section 9.2.1). */
export const isSafe = (method: string): boolean => method === 'GET' || method === 'HEAD'
