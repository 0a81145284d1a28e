import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import {
  buildSchema,
  type DocumentNode,
  execute,
  type GraphQLSchema,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import type { AuditFetch } from '../../src/audits/index.ts'

// A server written by hand from the tables of the HTTP spec. It shares no code with the library,
// because audits that are tested only against our own handler could share its errors.

const JSON_TYPE = 'application/json'
const GRAPHQL_TYPE = 'application/graphql-response+json'

/** The reason for a response. */
export type ResponseReason =
  | 'not acceptable'
  | 'wrong method'
  | 'wrong media type'
  | 'missing body'
  | 'unparsable body'
  | 'malformed'
  | 'syntax error'
  | 'validation error'
  | 'unknown operation'
  | 'mutation over GET'
  | 'coercion error'
  | 'partial success'
  | 'success'

interface PlainRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: string
}

export interface Exchange extends PlainRequest {
  readonly situation: ResponseReason
  /** The parsed JSON or query string; undefined when there is nothing to parse. */
  readonly params: { readonly [name: string]: unknown } | undefined
  readonly accepted: string
  status: number
  readonly responseHeaders: { [name: string]: string }
  responseBody: string | Uint8Array<ArrayBuffer>
}

export interface AuditServerOptions {
  readonly profile?: 'classic' | '2026'
  readonly introspection?: boolean
  readonly mutations?: boolean
  /** Breaks a rule by changing a response just before it is sent. */
  readonly spoil?: (exchange: Exchange) => void
  /** Called with every request, for example to check headers. */
  readonly onRequest?: (request: IncomingMessage) => void
}

export interface AuditServer {
  readonly url: string
  readonly close: () => Promise<void>
}

type Statuses = { readonly [situation in ResponseReason]: readonly [json: number, graphql: number] }

const CLASSIC: Statuses = {
  'not acceptable': [406, 406],
  'wrong method': [405, 405],
  'wrong media type': [415, 415],
  'missing body': [400, 400],
  'unparsable body': [400, 400],
  malformed: [400, 400],
  'syntax error': [200, 400],
  'validation error': [200, 400],
  'unknown operation': [200, 400],
  'mutation over GET': [405, 405],
  'coercion error': [200, 400],
  'partial success': [200, 200],
  success: [200, 200],
}

const DRAFT_2026: Statuses = {
  ...CLASSIC,
  malformed: [422, 422],
  'syntax error': [400, 400],
  'validation error': [422, 422],
  'unknown operation': [422, 422],
  'coercion error': [422, 422],
  'partial success': [200, 294],
}

const BODILESS: readonly ResponseReason[] = ['not acceptable', 'wrong method', 'wrong media type']

/** Responds over HTTP, on a free port. */
export async function startAuditServer(options: AuditServerOptions = {}): Promise<AuditServer> {
  const answer = createAnswer(options)
  const server = createServer((request, response) => {
    options.onRequest?.(request)
    const { method = '', url = '', headers } = request
    void text(request)
      .then((body) => answer({ method, url, headers: toPlainHeaders(headers), body }))
      .then(({ status, responseHeaders, responseBody }) => {
        response.writeHead(status, responseHeaders)
        response.end(responseBody)
      })
  })
  // On a busy machine a client may pause for longer than Node keeps a connection open.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/graphql`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Responds without a network, with the headers that a real fetch adds. */
export function createAuditFetch(options: AuditServerOptions = {}): AuditFetch {
  const answer = createAnswer(options)
  return async (address, init) => {
    const request = new Request(address, init)
    const { pathname, search } = new URL(address)
    const { status, responseHeaders, responseBody } = await answer({
      method: request.method,
      url: pathname + search,
      headers: { accept: '*/*', ...Object.fromEntries(request.headers) },
      body: await request.text(),
    })
    const body = responseBody.length === 0 || status === 304 ? null : responseBody
    return new Response(body, { status, headers: responseHeaders })
  }
}

interface Service {
  readonly schema: GraphQLSchema
  /** Returns the document, or the error in it. */
  readonly read: (query: string) => { readonly document: DocumentNode } | Handled
}

const services = new Map<string, Service>()

/**
 * Tests create dozens of servers that receive the same few documents, so each document is parsed
 * once.
 */
function serviceOf(mutations: boolean, introspection: boolean): Service {
  const key = `${mutations} ${introspection}`
  const service = services.get(key) ?? createService(mutations, introspection)
  services.set(key, service)
  return service
}

function createService(mutations: boolean, introspection: boolean): Service {
  const schema = buildSchema(
    `type Query { hello: String } ${mutations ? 'type Mutation { wave: String }' : ''}`,
  )
  const rules = introspection
    ? specifiedRules
    : [...specifiedRules, NoSchemaIntrospectionCustomRule]
  const known = new Map<string, ReturnType<Service['read']>>()
  const readFirst: Service['read'] = (query) => {
    let document: DocumentNode
    try {
      document = parse(query)
    } catch (error) {
      return { situation: 'syntax error', result: { errors: [error] } }
    }
    const errors = validate(schema, document, rules)
    if (errors.length > 0) return { situation: 'validation error', result: { errors } }
    return { document }
  }
  const read: Service['read'] = (query) => {
    const reading = known.get(query) ?? readFirst(query)
    known.set(query, reading)
    return reading
  }
  return { schema, read }
}

function createAnswer(options: AuditServerOptions): (request: PlainRequest) => Promise<Exchange> {
  const { profile = 'classic', introspection = true, mutations = true } = options
  const statuses = profile === '2026' ? DRAFT_2026 : CLASSIC
  const { schema, read } = serviceOf(mutations, introspection)

  async function handle(request: PlainRequest, accepted: string | undefined): Promise<Handled> {
    if (accepted === undefined) return { situation: 'not acceptable' }
    if (request.method !== 'GET' && request.method !== 'POST') return { situation: 'wrong method' }
    const read = request.method === 'GET' ? readSearch(request) : readBody(request)
    if (!read.params) return read
    const { params } = read
    if (!isWellFormed(params)) return { situation: 'malformed', params }
    return { params, ...(await run(params, request.method)) }
  }

  async function run(params: WellFormed, method: string): Promise<Handled> {
    const { query, operationName, variables } = params
    const reading = read(query)
    if ('situation' in reading) return reading
    const { document } = reading
    const operation = getOperationAST(document, operationName)
    if (!operation) return { situation: 'unknown operation' }
    if (operation.operation === 'mutation' && method === 'GET') {
      return { situation: 'mutation over GET' }
    }
    const result = await execute({ schema, document, operationName, variableValues: variables })
    if (!('data' in result)) return { situation: 'coercion error', result }
    return { situation: result.errors ? 'partial success' : 'success', result }
  }

  return async (request) => {
    const accepted = negotiate(request.headers['accept'])
    const { situation, params, result } = await handle(request, accepted)
    const [jsonStatus, graphqlStatus] = statuses[situation]
    const status = accepted === JSON_TYPE ? jsonStatus : graphqlStatus
    const type = profile === '2026' && status >= 400 ? GRAPHQL_TYPE : accepted
    const responseHeaders: { [name: string]: string } = {}
    if (!BODILESS.includes(situation)) responseHeaders['content-type'] = `${type}; charset=utf-8`
    if (situation === 'wrong method') responseHeaders['allow'] = 'GET, POST'
    if (situation === 'mutation over GET') responseHeaders['allow'] = 'POST'
    const exchange: Exchange = {
      ...request,
      situation,
      params,
      accepted: accepted ?? '',
      status,
      responseHeaders,
      responseBody: BODILESS.includes(situation)
        ? ''
        : JSON.stringify(result ?? toErrors(situation)),
    }
    options.spoil?.(exchange)
    return exchange
  }
}

function toPlainHeaders(headers: IncomingMessage['headers']): PlainRequest['headers'] {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

interface Handled {
  readonly situation: ResponseReason
  readonly params?: { readonly [name: string]: unknown } | undefined
  readonly result?: unknown
}

interface WellFormed {
  readonly query: string
  readonly operationName?: string | null
  readonly variables?: { readonly [name: string]: unknown } | null
}

function toErrors(situation: ResponseReason): object {
  return { errors: [{ message: situation }] }
}

function negotiate(accept = '*/*'): string | undefined {
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    return { type, quality: quality === undefined ? 1 : Number(quality) }
  })
  const qualityOf = (type: string): number =>
    (ranges.find((range) => range.type === type) ?? ranges.find((range) => range.type === '*/*'))
      ?.quality ?? 0
  const [json, graphql] = [qualityOf(JSON_TYPE), qualityOf(GRAPHQL_TYPE)]
  if (json === 0 && graphql === 0) return undefined
  return graphql > json ? GRAPHQL_TYPE : JSON_TYPE
}

function readSearch({ url }: PlainRequest): Handled {
  const search = new URL(url, 'http://host').searchParams
  const params: { [name: string]: unknown } = {}
  for (const [name, value] of search) {
    if (value === '') continue
    const isMap = name === 'variables' || name === 'extensions'
    try {
      params[name] = isMap ? JSON.parse(value) : value
    } catch {
      return { situation: 'malformed' }
    }
  }
  return { situation: 'success', params }
}

function readBody({ headers, body }: PlainRequest): Handled {
  const [type, charset] = (headers['content-type'] ?? '').toLowerCase().split(/; ?charset=/)
  if (type !== JSON_TYPE || (charset !== undefined && !/^"?utf-8"?$/.test(charset))) {
    return { situation: 'wrong media type' }
  }
  if (body === '') return { situation: 'missing body' }
  try {
    const params: unknown = JSON.parse(body)
    return isMap(params) ? { situation: 'success', params } : { situation: 'malformed' }
  } catch {
    return { situation: 'unparsable body' }
  }
}

function isMap(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isWellFormed(params: {
  readonly [name: string]: unknown
}): params is { readonly [name: string]: unknown } & WellFormed {
  const { query, operationName = null, variables = null, extensions = null } = params
  return (
    typeof query === 'string' &&
    (operationName === null || typeof operationName === 'string') &&
    (variables === null || isMap(variables)) &&
    (extensions === null || isMap(extensions))
  )
}
