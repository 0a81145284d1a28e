import { isJson } from './negotiate.ts'
import { BodyError, getHeader, type Request, type RequestParams, type Response } from './request.ts'

/** The request could be read, but is not a GraphQL request: newer drafts tell that apart. */
export class MalformedRequestError extends Error {}

type Json = { readonly [key: string]: unknown }

const isMap = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new MalformedRequestError(message)
}

function checkParams({ query, variables, operationName, extensions }: Json): RequestParams {
  assert(query != null, 'Missing query')
  assert(typeof query === 'string', 'Invalid query')
  assert(variables == null || isMap(variables), 'Invalid variables')
  assert(operationName == null || typeof operationName === 'string', 'Invalid operationName')
  assert(extensions == null || isMap(extensions), 'Invalid extensions')
  // An empty name is no name: GET forms cannot leave a parameter out.
  return {
    query,
    operationName: operationName === '' ? null : operationName,
    variables,
    extensions,
  }
}

function parseUrl(url: string): RequestParams {
  const search = new URLSearchParams(url.replace(/^[^?]*/, ''))
  const parseMap = (name: string): unknown => {
    const text = search.get(name)
    try {
      return text ? JSON.parse(text) : undefined
    } catch {
      throw new MalformedRequestError('Unparsable URL')
    }
  }
  return checkParams({
    query: search.get('query'),
    operationName: search.get('operationName') ?? undefined,
    variables: parseMap('variables'),
    extensions: parseMap('extensions'),
  })
}

/**
 * Reads the parameters of a request: from the URL for GET, from the JSON body for POST.
 *
 * Answers with a response when the method or the content type is not supported, and throws when the
 * parameters are malformed.
 */
export async function parseRequestParams<Raw, Context>(
  req: Request<Raw, Context>,
): Promise<RequestParams | Response> {
  const { method, body } = req
  if (method === 'GET') return parseUrl(req.url)
  if (method !== 'POST') {
    const headers = { allow: 'GET, POST' }
    return [null, { status: 405, statusText: 'Method Not Allowed', headers }]
  }
  if (!isJson(getHeader(req.headers, 'content-type'))) {
    return [null, { status: 415, statusText: 'Unsupported Media Type' }]
  }
  if (!body) throw new Error('Missing body')
  let data: unknown
  try {
    data = typeof body === 'function' ? await body() : body
    if (typeof data === 'string') data = JSON.parse(data)
  } catch (error) {
    throw error instanceof BodyError ? error : new Error('Unparsable JSON body')
  }
  // Batches are arrays, and are not part of the specification.
  assert(isMap(data), 'JSON body must be an object')
  return checkParams(data)
}
