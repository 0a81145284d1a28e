/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { test } from 'node:test'
import express from 'express'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { Hono, type Context as HonoContext } from 'hono'
import Koa from 'koa'
import * as lambda from '../src/adapters/aws-lambda.ts'
import * as expressAdapter from '../src/adapters/express.ts'
import * as fastifyAdapter from '../src/adapters/fastify.ts'
import * as fetchAdapter from '../src/adapters/fetch.ts'
import * as honoAdapter from '../src/adapters/hono.ts'
import * as http from '../src/adapters/http.ts'
import * as http2 from '../src/adapters/http2.ts'
import * as koa from '../src/adapters/koa.ts'
import * as netlify from '../src/adapters/netlify.ts'
import * as uws from '../src/adapters/uws.ts'
import { schema } from './support/hosts/schema.ts'

type IsSame<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Compiles only when the two types are the same. */
function same<A, B>(_proof: IsSame<A, B>): void {}

interface Session {
  readonly user: string
}
class Account {
  readonly #secret = 'x'
  reveal(): string {
    return this.#secret
  }
}

test('each adapter exposes the native request and response with their own types', () => {
  const handlers = [
    http.createHandler({
      schema,
      context: ({ raw, context }) => {
        same<typeof raw, IncomingMessage>(true)
        same<typeof context.res, ServerResponse>(true)
      },
    }),
    http2.createHandler({
      schema,
      context: ({ raw, context }) => {
        same<typeof raw, Http2ServerRequest>(true)
        same<typeof context.res, Http2ServerResponse>(true)
      },
    }),
    expressAdapter.createHandler({
      schema,
      context: ({ raw, context }) => {
        same<typeof raw, express.Request>(true)
        same<typeof context.res, express.Response>(true)
      },
    }),
    fastifyAdapter.createHandler({
      schema,
      context: ({ raw, context }) => {
        same<typeof raw, FastifyRequest>(true)
        same<typeof context.reply, FastifyReply>(true)
      },
    }),
    koa.createHandler({
      schema,
      context: ({ raw, context }) => {
        same<typeof raw, IncomingMessage>(true)
        same<typeof context.res, Koa.Response>(true)
      },
    }),
    honoAdapter.createHandler({
      schema,
      context: ({ raw, context }) => {
        same<typeof raw, Request>(true)
        same<typeof context.c, HonoContext>(true)
      },
    }),
    fetchAdapter.createHandler({
      schema,
      context: ({ raw, context }) => {
        same<typeof raw, Request>(true)
        same<typeof context.Response, typeof Response>(true)
      },
    }),
    uws.createHandler({
      schema,
      context: ({ raw, context }) => {
        same<typeof raw, uws.HttpRequest>(true)
        same<typeof context.res, uws.HttpResponse>(true)
      },
    }),
    netlify.createHandler({
      schema,
      context: ({ raw, context }) => {
        same<typeof raw, netlify.HandlerEvent>(true)
        same<typeof context, netlify.HandlerContext>(true)
      },
    }),
    lambda.createHandler({
      schema,
      context: ({ raw, context }) => {
        same<typeof raw, lambda.LambdaEvent>(true)
        same<typeof context, lambda.LambdaContext>(true)
      },
    }),
  ]
  assert.ok(handlers.every((handler) => typeof handler === 'function'))
})

test('a context can be an interface or a class', () => {
  const options: http.HandlerOptions<Session> = { schema, context: () => ({ user: 'a' }) }
  assert.equal(typeof http.createHandler<Session>(options), 'function')
  assert.equal(
    typeof fetchAdapter.createHandler<Account>({
      schema,
      context: async () => new Account(),
      onOperation: (_req, args) => {
        same<typeof args.contextValue, Account | undefined>(true)
      },
    }),
    'function',
  )
  // @ts-expect-error a context of another kind
  assert.equal(typeof koa.createHandler<Session>({ schema, context: () => 1 }), 'function')
})

test('the handlers are assignable to the handler types of their hosts', () => {
  const use = () => {
    createServer(http.createHandler({ schema }))
    createSecureServer({}, http2.createHandler({ schema }))
    express().all('/graphql', expressAdapter.createHandler({ schema }))
    Fastify().all('/graphql', fastifyAdapter.createHandler({ schema }))
    new Koa().use(koa.createHandler({ schema }))
    new Koa<Session>().use(koa.createHandler<undefined, Session>({ schema }))
    new Hono().all('/graphql', honoAdapter.createHandler({ schema }))
  }
  assert.equal(typeof use, 'function')
})

test('a wider type of the native uWebSockets response can be requested', () => {
  interface Native extends uws.HttpResponse {
    getRemoteAddressAsText(): ArrayBuffer
  }
  const handler = uws.createHandler<Session, Native>({
    schema,
    context: ({ context }) => ({ user: String(context.res.getRemoteAddressAsText()) }),
  })
  same<Parameters<typeof handler>[0], Native>(true)
  assert.equal(handler.length, 2)
})
