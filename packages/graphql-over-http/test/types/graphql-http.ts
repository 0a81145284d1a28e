// Never run, only compiled: code for graphql-http must compile with this library.
import { createServer } from 'node:http'
import { getOperationAST, parse, validate } from 'graphql'
import {
  type AuditName,
  type ClientOptions,
  createHandler,
  NetworkError,
  type ParseRequestParams,
  parseRequestParams,
  type RequestParams,
  renderAuditResultsToHTML,
  type ServerAuditOptions,
} from '../../src/index.ts'
import { schema } from '../support/schema.ts'

// Parameters and options can be built step by step.
const params: RequestParams = { query: '{ hello }' }
params.operationName = null
params.variables = { name: 'Ada' }
params.variables['age'] = 36
export const options: ClientOptions = { url: '' }
options.headers = { authorization: 'Bearer token' }
export const audits: ServerAuditOptions = { url: '' }
audits.url = async () => 'http://localhost:4000/graphql'

export const parser: ParseRequestParams = async (req) => {
  const parsed = await parseRequestParams(req)
  if ('query' in parsed) parsed.variables = Object(parsed.variables)
  return parsed
}

// The response can be passed to fetch's Response and to Node's response.
const handler = createHandler({ schema })
const request = { method: 'GET', url: '/', headers: {}, body: null, raw: null, context: null }
export const answer = async () => new Response(...(await handler(request)))
createServer(async (_req, res) => {
  const [body, { status, statusText, headers }] = await handler(request)
  res.writeHead(status, statusText, headers).end(body)
  const plain: Record<string, string> = { ...headers }
  return new Headers(plain)
})

// Functions of graphql-js can be passed, wrapped with all their parameters, or with fewer.
createHandler({ schema, parse, validate, getOperationAST })
createHandler({
  schema,
  parse: (source, options) => parse(typeof source === 'string' ? source : source.body, options),
  validate: (...args) => validate(...args),
})
createHandler({
  schema,
  parse: (source: string) => parse(source),
  validate: (against, document) => validate(against, document),
})

// A subclass of NetworkError has its own name.
export class Timeout extends NetworkError {
  constructor() {
    super('Took too long')
    this.name = 'Timeout'
    this.response = undefined
  }
}

// Reports accept stored results, and results of other libraries.
const name: AuditName = 'MAY do things'
export const report = renderAuditResultsToHTML([
  { id: 'ABCD', name, status: 'ok' },
  { id: 'EFGH', name, status: 'notice', reason: 'It does not', response: new Response() },
])
