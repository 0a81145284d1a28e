// Never run, only compiled. A line that must not compile is marked with the reason.
import { type ExecutionArgs, GraphQLError, parse } from 'graphql'
import {
  createHandler,
  type FormatError,
  type Handler,
  type HandlerOptions,
  type ParseRequestParams,
  parseRequestParams,
  type Request,
  type RequestHeaders,
  type RequestParams,
  type Response,
  type ResponseInit,
} from '../../src/index.ts'
import { schema } from '../support/schema.ts'
import { type Equal, isTrue } from './equal.ts'

interface NativeRequest {
  readonly socket: number
}
interface Native {
  readonly res: { setHeader(name: string, value: string): void }
}

// The host's request and context are typed in every option.
const handler = createHandler<NativeRequest, Native, string>({
  schema: (req) => {
    isTrue<Equal<typeof req, Request<NativeRequest, Native>>>()
    return schema
  },
  context: (req, params) => {
    isTrue<Equal<typeof req.raw, NativeRequest>>()
    isTrue<Equal<typeof params, RequestParams>>()
    req.context.res.setHeader('x-socket', String(req.raw.socket))
    return 'context'
  },
  onSubscribe: (req, params) => {
    isTrue<Equal<typeof req.context, Native>>()
    isTrue<Equal<typeof params.query, string>>()
  },
  parseRequestParams: (req) => {
    isTrue<Equal<typeof req.raw.socket, number>>()
    return parseRequestParams(req)
  },
})
isTrue<Equal<typeof handler, Handler<NativeRequest, Native>>>()
isTrue<Equal<ReturnType<typeof handler>, Promise<Response>>>()

// Without type arguments for the host any value is accepted, and its type is unknown.
createHandler({
  schema,
  context: (req) => {
    isTrue<Equal<typeof req.raw, unknown>>()
    // @ts-expect-error TS18046: the context is unknown
    void req.context.res
  },
})

export async function call(): Promise<number> {
  const [body, init] = await handler({
    method: 'POST',
    url: '/graphql',
    headers: { 'content-type': 'application/json', 'x-many': ['a', 'b'] },
    body: async () => '{}',
    raw: { socket: 1 },
    context: { res: { setHeader: () => undefined } },
  })
  isTrue<Equal<typeof body, string | null>>()
  isTrue<Equal<typeof init, ResponseInit>>()
  isTrue<Equal<typeof init.statusText, string>>()
  return init.status
}

// @ts-expect-error TS2739: the host's request is missing
export const incomplete = () => handler({ method: 'GET', url: '/', headers: {}, body: null })

// Headers: those of Node, of fetch, and of similar objects.
export const headers: readonly RequestHeaders[] = [
  { accept: '*/*', 'set-cookie': ['a=b'], missing: undefined },
  new Headers(),
  { get: (name) => (name === 'accept' ? '*/*' : null) },
]

// The values that each hook may return.
export const parsers: readonly ParseRequestParams[] = [
  () => ({ query: '{ hello }' }),
  () => ({ query: '', operationName: null, variables: { a: [1] }, extensions: null }),
  async () => [null, { status: 400, statusText: 'Bad Request' }],
  () => undefined,
  async () => null,
  () => {},
  // @ts-expect-error TS2322: the query is missing
  () => ({ variables: {} }),
]

export const subscribers: readonly HandlerOptions['onSubscribe'][] = [
  () => undefined,
  () => {},
  () => ({ schema, document: parse('{ hello }') }),
  async () => ({ data: { hello: 'world' } }),
  () => ({ errors: [new GraphQLError('no')] }),
  () => [new GraphQLError('no')],
  () => ['text', { status: 200, statusText: 'OK', headers: { 'x-custom': '1' } }],
  undefined,
]

export const formatters: readonly FormatError[] = [
  (error) => error,
  () => new Error('masked'),
  ({ message }) => ({ message, code: 1 }),
  (error) => (error instanceof GraphQLError ? (error.originalError ?? error) : error),
  // @ts-expect-error TS2322: text is not an error
  ({ message }) => message,
]

export const executors: readonly HandlerOptions['execute'][] = [
  (args) => {
    isTrue<Equal<typeof args, ExecutionArgs>>()
    return { data: {} }
  },
  async () => ({ data: null, errors: [new GraphQLError('no')] }),
]

createHandler({ schema, profile: '2026', documentCache: 10 })
createHandler({ schema, profile: 'classic', documentCache: false })
// @ts-expect-error TS2769: not a profile
createHandler({ schema, profile: 'modern' })
// @ts-expect-error TS2769: true is not a number of documents
createHandler({ schema, documentCache: true })
// @ts-expect-error TS2769: the text of a schema is not a schema
createHandler({ schema: 'type Query { hello: String }' })
// @ts-expect-error TS2769: not an option
createHandler({ schema, playground: true })

// The type of the context may be the only type argument, as with the adapters.
interface Session {
  readonly user: string
}
const session = createHandler<Session>({ schema, context: () => ({ user: 'ada' }) })
isTrue<Equal<typeof session, Handler>>()
// @ts-expect-error TS2769: not a session
createHandler<Session>({ schema, context: () => ({ user: 1 }) })
