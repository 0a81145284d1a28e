// Never run, only compiled. A line that must not compile is marked with the reason.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server, type Http2ServerRequest } from 'node:http2'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { createHandler as createExpress } from '../../src/adapters/express.ts'
import { createHandler as createFastify } from '../../src/adapters/fastify.ts'
import { createHandler as createFetch } from '../../src/adapters/fetch.ts'
import { createHandler as createHttp, type HandlerOptions } from '../../src/adapters/http.ts'
import { createHandler as createHttp2 } from '../../src/adapters/http2.ts'
import { createHandler as createKoa } from '../../src/adapters/koa.ts'
import { schema } from '../support/schema.ts'
import { type Equal, isTrue } from './equal.ts'

interface UserContext {
  readonly user: string
}
class Session {
  readonly #user = 'Ada'
  get user(): string {
    return this.#user
  }
}

// The native request and response have the host's types, and the handler can be passed to the host.
createServer(
  createHttp({
    schema,
    context: (req) => {
      isTrue<Equal<typeof req.raw, IncomingMessage>>()
      isTrue<Equal<typeof req.context.res, ServerResponse>>()
      req.context.res.setHeader('set-cookie', 'a=b')
      // @ts-expect-error TS2339: Node's response has no such method
      req.context.res.cookie('a', 'b')
      return undefined
    },
  }),
)

createHttp2Server(
  createHttp2({
    schema,
    context: (req) => {
      const raw: Http2ServerRequest = req.raw
      req.context.res.stream.priority({ silent: true })
      return raw.authority
    },
  }),
)

express().all(
  '/graphql',
  createExpress({
    schema,
    context: (req) => {
      req.context.res.cookie('a', 'b')
      return req.raw.ip
    },
  }),
)

fastify().all(
  '/graphql',
  createFastify({
    schema,
    context: (req) => {
      void req.context.reply.header('a', 'b')
      return req.raw.id
    },
  }),
)

new Koa().use(
  createKoa({
    schema,
    context: (req) => {
      req.context.res.append('a', 'b')
      return undefined
    },
  }),
)

const handle = createFetch({
  schema,
  context: (req) => {
    isTrue<Equal<typeof req.raw, globalThis.Request>>()
    return req.raw.credentials
  },
})
isTrue<Equal<ReturnType<typeof handle>, Promise<globalThis.Response>>>()

// Contexts are typed like those of the core.
export const options: HandlerOptions<UserContext> = { schema, context: { user: 'Ada' } }
createHttp<UserContext>({ schema, context: async () => ({ user: 'Ada' }) })
createExpress<Session>({ schema, context: () => new Session() })
createFetch({
  schema,
  context: () => new Session(),
  onOperation: (_req, args) => {
    isTrue<Equal<(typeof args)['contextValue'], Session | undefined>>()
  },
})
// @ts-expect-error TS2322: not the declared context
createKoa<UserContext>({ schema, context: { user: 1 } })
