// One server per adapter, as in a project with strict settings. This file is compiled against the
// sources with the rest of the repository, and against the packed archive by `npm run pack`.

import { createServer, type IncomingMessage } from 'node:http'
import { createSecureServer } from 'node:http2'
import {
  createHandler as createCoreHandler,
  type Handler,
  type HandlerOptions,
  type Request,
  type Response,
} from '@portcullis/graphql-over-http'
import { createHandler as createNetlifyHandler } from '@portcullis/graphql-over-http/lib/use/@netlify/functions'
import { createHandler as createNodeHandler } from '@portcullis/graphql-over-http/lib/use/node'
import { createHandler as createUwsHandler } from '@portcullis/graphql-over-http/lib/use/uWebSockets'
import { createHandler as createLambdaHandler } from '@portcullis/graphql-over-http/use/aws-lambda'
import {
  createHandler as createExpressHandler,
  parseRequestParams,
} from '@portcullis/graphql-over-http/use/express'
import { createHandler as createFastifyHandler } from '@portcullis/graphql-over-http/use/fastify'
import { createHandler as createFetchHandler } from '@portcullis/graphql-over-http/use/fetch'
import { createHandler as createHonoHandler } from '@portcullis/graphql-over-http/use/hono'
import {
  createHandler as createHttpHandler,
  type HandlerOptions as HttpOptions,
} from '@portcullis/graphql-over-http/use/http'
import { createHandler as createHttp2Handler } from '@portcullis/graphql-over-http/use/http2'
import { createHandler as createKoaHandler } from '@portcullis/graphql-over-http/use/koa'
import express from 'express'
import fastify from 'fastify'
import { buildSchema, NoSchemaIntrospectionCustomRule } from 'graphql'
import { Hono } from 'hono'
import Koa from 'koa'

const schema = buildSchema('type Query { hello: String }')

class Session {
  readonly user: string
  constructor(user: string) {
    this.user = user
  }
}

interface Viewer {
  readonly name: string
}

export const http = createServer(
  createHttpHandler<Viewer>({
    schema,
    context(req, params) {
      const native: IncomingMessage = req.raw
      req.context.res.setHeader('x-query', params.query.length)
      return native.headers.authorization
        ? { name: native.headers.authorization }
        : [null, { status: 401, statusText: 'Unauthorized' }]
    },
    bodyLimitBytes: 100_000,
    profile: '2026',
    documentCache: false,
  }),
)

export const node = createServer(createNodeHandler({ schema }))

const httpOptions: HttpOptions<Session> = { schema, context: new Session('ann') }
export const withClass = createServer(createHttpHandler(httpOptions))

// @ts-expect-error: not the declared context
createHttpHandler<Viewer>({ schema, context: { name: 1 } })
// @ts-expect-error: not a profile
createHttpHandler({ schema, profile: '1999' })

export const http2 = createSecureServer(
  {},
  createHttp2Handler({
    schema,
    context: (req) => ({ stream: req.raw.stream.id, res: req.context.res }),
  }),
)

const app = express()
app.all(
  '/graphql',
  createExpressHandler({ schema, context: (req) => ({ ip: req.raw.ip, out: req.context.res }) }),
)
app.all('/params', async (req, res) => {
  const params = await parseRequestParams(req, res)
  if (params) res.json(params.variables)
})

export { app }

export const fastifyApp = fastify().all(
  '/graphql',
  createFastifyHandler({ schema, context: (req) => ({ id: req.raw.id, out: req.context.reply }) }),
)

export const koa = new Koa().use(
  createKoaHandler({ schema, context: (req) => ({ type: req.context.res.type }) }),
)

export const hono = new Hono().all(
  '/graphql',
  createHonoHandler({ schema, context: (req) => ({ path: req.context.c.req.path }) }),
)

export const serve: (req: globalThis.Request) => Promise<globalThis.Response> = createFetchHandler(
  { schema, context: (req) => ({ signal: req.raw.signal, api: req.context.Response }) },
  { Response: globalThis.Response },
)

export const netlify = createNetlifyHandler({
  schema,
  context: (req) => ({ method: req.raw.httpMethod, name: req.context.functionName }),
})

export const lambda = createLambdaHandler({
  schema,
  context: (req) => ({ body: req.raw.body, id: req.context.awsRequestId }),
})

// The declarations of uWebSockets.js, which is not in the registry.
interface NativeRequest {
  getMethod(): string
  getUrl(): string
  getQuery(): string
  getHeader(lowerCaseKey: string): string
  forEach(callback: (key: string, value: string) => void): void
}
interface NativeResponse {
  onAborted(handler: () => void): NativeResponse
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): NativeResponse
  cork(callback: () => void): NativeResponse
  writeStatus(status: string | ArrayBuffer): NativeResponse
  writeHeader(key: string | ArrayBuffer, value: string | ArrayBuffer): NativeResponse
  end(body?: string | ArrayBuffer, closeConnection?: boolean): NativeResponse
  endWithoutBody(reportedContentLength?: number, closeConnection?: boolean): NativeResponse
  getRemoteAddress(): ArrayBuffer
}
export const uws: (res: NativeResponse, req: NativeRequest) => void | Promise<void> =
  createUwsHandler({ schema })

// A host without an adapter.
interface Call {
  readonly text: string
}
const options: HandlerOptions<Call, { readonly at: Date }, Viewer> = {
  schema,
  context: async (req) => ({ name: `${req.raw.text} ${req.context.at.toISOString()}` }),
  validationRules: [NoSchemaIntrospectionCustomRule],
  formatError: (error) => ({ message: error.message }),
  onSubscribe: (_req, params) => {
    if (params.query.length > 1000) return [null, { status: 413, statusText: 'Too long' }]
    return undefined
  },
  onOperation: (_req, args, result) => ({ ...result, extensions: { by: args.contextValue?.name } }),
  parseRequestParams: (req) => ({ query: req.raw.text }),
}
export const handle: Handler<Call, { readonly at: Date }> = createCoreHandler(options)
export async function call(req: Request<Call, { readonly at: Date }>): Promise<number> {
  const [body, init]: Response = await handle(req)
  return body === null ? init.status : body.length
}
