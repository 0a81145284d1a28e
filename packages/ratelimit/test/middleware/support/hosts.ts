// A server of each framework that responds with a greeting.

import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server'
import type { KeyedRateLimiter, LimitResult, RateLimiter } from '@portcullis/ratelimit'
import { limitRequests as limitExpress } from '@portcullis/ratelimit/use/express'
import { limitRequests as limitFastify } from '@portcullis/ratelimit/use/fastify'
import { limitRequests as limitFetch } from '@portcullis/ratelimit/use/fetch'
import { limitRequests as limitHono } from '@portcullis/ratelimit/use/hono'
import { limitRequests as limitKoa } from '@portcullis/ratelimit/use/koa'
import {
  type HeaderStyle,
  type LimitedOutcome,
  limitRequests as limitNode,
  type MiddlewareOptions,
} from '@portcullis/ratelimit/use/node'
import express from 'express'
import Fastify, { type FastifyRequest } from 'fastify'
import { type Context, Hono } from 'hono'
import Koa from 'koa'

// With an import, their types would be those of the newer version under another name.
const require = createRequire(import.meta.url)
const express4: typeof express = require('express-4')
const Koa2: typeof Koa = require('koa-2')

/** Options of a middleware in terms that all frameworks share. */
export interface Settings {
  /** With limits by the key `user`, or with rules. */
  readonly limiter: KeyedRateLimiter<'user'> | RateLimiter
  /** Default: by the user, if the request has one. */
  readonly descriptors?: (client: Client) => Record<string, string>[]
  /** For a limiter with limits, instead of descriptors. */
  readonly keys?: (client: Client) => { readonly user?: string | undefined }
  readonly skip?: (client: Client) => boolean
  readonly onLimited?: (result: LimitResult, client: Client) => LimitedOutcome
  readonly headers?: HeaderStyle | false
  readonly onFailure?: 'allow' | 'deny'
  readonly report?: (error: unknown) => void
  readonly warn?: ((message: string) => void) | false
  /** Whether the framework trusts one proxy, if it has such a setting. */
  readonly trustsProxy?: boolean
  /** The number of these middlewares on the route. Default: 1. */
  readonly times?: number
}

export interface Client {
  readonly user: string | undefined
  readonly address: string | undefined
}

/** Starts a server that ends with the test, and resolves to its address. */
export type Serve = (t: TestContext, settings: Settings) => Promise<string>

const byUser = ({ user }: Client) => (user === undefined ? [] : [{ user }])

/** The options that a framework's middleware takes. */
function toOptions<Args extends readonly unknown[]>(
  settings: Settings,
  toClient: (...args: Args) => Client,
): MiddlewareOptions<Args> {
  const { descriptors = byUser, keys, skip, onLimited, limiter, ...others } = settings
  const { headers, onFailure, report, warn } = others
  const counted =
    keys === undefined
      ? {
          limiter: limiter as RateLimiter,
          descriptors: (...args: Args) => descriptors(toClient(...args)),
        }
      : {
          limiter: limiter as KeyedRateLimiter,
          keys: (...args: Args) => keys(toClient(...args)),
        }
  return {
    ...counted,
    ...{ headers, onFailure, report, warn },
    ...(skip && { skip: (...args: Args) => skip(toClient(...args)) }),
    ...(onLimited && {
      onLimited: (result: LimitResult, ...args: Args) => onLimited(result, toClient(...args)),
    }),
  }
}

const toText = (value: unknown) => (typeof value === 'string' ? value : undefined)

const serveNode: Serve = (t, settings) => {
  const limits = repeat(settings, () =>
    limitNode(
      toOptions(settings, ({ headers, socket }: IncomingMessage) => ({
        user: toText(headers['x-user']),
        address: socket.remoteAddress,
      })),
    ),
  )
  return listen(t, async (request, response) => {
    for (const limit of limits) if (!(await limit(request, response))) return
    response.end('hello')
  })
}

function serveExpress(create: typeof express): Serve {
  return (t, settings) => {
    const app = create()
    if (settings.trustsProxy) app.set('trust proxy', 1)
    for (const limit of repeat(settings, () =>
      limitExpress(
        toOptions(settings, (request: express.Request) => ({
          user: request.get('x-user'),
          address: request.ip,
        })),
      ),
    )) {
      app.use(limit)
    }
    app.get('/', (_request, response) => {
      response.send('hello')
    })
    // Express writes errors to standard error unless the application handles them.
    app.use(((_error, _request, response, _next) => {
      response.status(500).end()
    }) as express.ErrorRequestHandler)
    return listen(t, app)
  }
}

const serveFastify: Serve = async (t, settings) => {
  const app = Fastify({ trustProxy: settings.trustsProxy ? 'loopback' : false })
  t.after(() => app.close())
  for (const limit of repeat(settings, () =>
    limitFastify(
      toOptions(settings, ({ headers, ip }: FastifyRequest) => ({
        user: toText(headers['x-user']),
        address: ip,
      })),
    ),
  )) {
    app.addHook('onRequest', limit)
  }
  app.get('/', async () => 'hello')
  return app.listen({ port: 0, host: '127.0.0.1' })
}

function serveKoa(Framework: typeof Koa): Serve {
  return (t, settings) => {
    const app = new Framework({ proxy: settings.trustsProxy === true, maxIpsCount: 1 })
    app.silent = true
    for (const limit of repeat(settings, () =>
      limitKoa(
        toOptions(settings, (ctx: Koa.Context) => ({
          user: ctx.get('x-user') || undefined,
          address: ctx.ip,
        })),
      ),
    )) {
      app.use(limit)
    }
    app.use((ctx) => {
      ctx.body = 'hello'
    })
    return listen(t, app.callback())
  }
}

/** `greet` responds in one of the ways of Hono: through its context, or with its own Response. */
function serveHono(greet: (text: (body: string) => Response) => Response): Serve {
  return (t, settings) => {
    const app = new Hono()
    for (const limit of repeat(settings, () =>
      limitHono(
        toOptions(settings, (c: Context) => ({
          user: c.req.header('x-user'),
          address: c.env.incoming.socket.remoteAddress,
        })),
      ),
    )) {
      app.use(limit)
    }
    app.get('/', (c) => greet((body) => c.text(body)))
    app.onError((_error, c) => c.body(null, 500))
    return listen(t, getRequestListener(app.fetch, { overrideGlobalObjects: false }))
  }
}

/** The second argument is the one that Deno passes. */
function serveFetch(greet: () => Response | Promise<Response>): Serve {
  return (t, settings) => {
    type Info = { readonly remoteAddr: { readonly hostname: string } }
    let handle: (request: Request, info: Info) => Promise<Response> = async () => greet()
    for (let n = 0; n < (settings.times ?? 1); n++) {
      const options = toOptions(settings, (request: Request, info: Info) => ({
        user: request.headers.get('x-user') ?? undefined,
        address: info.remoteAddr.hostname,
      }))
      handle = limitFetch(options, handle)
    }
    const listener = getRequestListener(
      (request, env) => {
        const { incoming } = env as HttpBindings | Http2Bindings
        return handle(request, { remoteAddr: { hostname: incoming.socket.remoteAddress ?? '' } })
      },
      { overrideGlobalObjects: false, errorHandler: () => new Response(null, { status: 500 }) },
    )
    return listen(t, listener)
  }
}

/** A response whose headers cannot be changed. */
async function greetFromElsewhere(): Promise<Response> {
  return await fetch('data:text/plain,hello')
}

export const hosts: Readonly<Record<string, Serve>> = {
  'node:http': serveNode,
  'express 5': serveExpress(express),
  'express 4': serveExpress(express4),
  fastify: serveFastify,
  'koa 3': serveKoa(Koa),
  'koa 2': serveKoa(Koa2),
  hono: serveHono((text) => text('hello')),
  'hono, with a Response of its handler': serveHono(() => new Response('hello')),
  fetch: serveFetch(() => new Response('hello')),
  'fetch, with a Response that came from fetch()': serveFetch(greetFromElsewhere),
}

function repeat<T>({ times = 1 }: Settings, create: () => T): T[] {
  return Array.from({ length: times }, create)
}

async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  t.after(() => server.close())
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}
