/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { Server } from 'node:net'
import { after, before, describe, test } from 'node:test'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
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
import type { RequestParams } from '../src/request.ts'
import { openHttp2Fetch } from './support/hosts/http2-fetch.ts'
import { closeServer, listen } from './support/hosts/listen.ts'
import { uwsHost } from './support/hosts/other-runtimes.ts'

const limit = { bodyLimitBytes: 100 }
const lambdaContext = {
  functionName: 'graphql',
  awsRequestId: 'a-request',
  getRemainingTimeInMillis: () => 1000,
}

interface Running {
  fetch(path: string, init?: RequestInit): Promise<Response>
  close?(): Promise<void>
}

/**
 * For each adapter a server that responds with the parameters it read, or with 418 and the error
 * message.
 */
const servers: { readonly [adapter: string]: () => Promise<Running> } = {
  async http() {
    const server = createServer(async (req, res) => {
      await report(
        () => http.parseRequestParams(req, res, limit),
        (status, body) => void res.writeHead(status).end(body),
      )
    })
    return serve(server)
  },
  async http2() {
    const server = createHttp2Server(async (req, res) => {
      await report(
        () => http2.parseRequestParams(req, res, limit),
        (status, body) => void res.writeHead(status).end(body),
      )
    })
    const origin = `http://localhost:${await listen(server)}`
    const client = openHttp2Fetch(origin, Buffer.alloc(0))
    return {
      fetch: (path, init) => client.fetch(origin + path, init),
      async close() {
        client.close()
        await closeServer(server)
      },
    }
  },
  async express() {
    const app = express()
    app.use(async (req, res) => {
      await report(
        () => expressAdapter.parseRequestParams(req, res, limit),
        (status, body) => void res.writeHead(status).end(body),
      )
    })
    return serve(createServer(app))
  },
  async fastify() {
    const fastify = Fastify()
    fastify.all('/', async (req, reply) => {
      await report(
        () => fastifyAdapter.parseRequestParams(req, reply, limit),
        (status, body) => void reply.code(status).send(body),
      )
      return reply
    })
    await fastify.ready()
    return serve(fastify.server)
  },
  async koa() {
    const app = new Koa()
    app.use(async (ctx) => {
      await report(
        () => koa.parseRequestParams(ctx, limit),
        (status, body) => {
          ctx.status = status
          ctx.body = body
        },
      )
    })
    return serve(createServer(app.callback()))
  },
  async fetch() {
    return {
      async fetch(path, init) {
        const request = new Request(`http://localhost${path}`, init)
        return reportResponse(() => fetchAdapter.parseRequestParams(request, {}, limit))
      },
    }
  },
  async hono() {
    const app = new Hono()
    app.all('/', (c) => reportResponse(() => honoAdapter.parseRequestParams(c, limit)))
    return { fetch: async (path, init) => app.request(path, init) }
  },
  async uws() {
    const host = await uwsHost.open()
    return {
      fetch: (path, init) => host.fetch(`${host.origin}/params${path.slice(1)}`, init),
      close: () => host.close(),
    }
  },
  async netlify() {
    return {
      async fetch(path, init) {
        const { method, url, headers, body } = await toParts(path, init)
        const event = {
          httpMethod: method,
          rawUrl: url.href,
          headers: Object.fromEntries(headers),
          body,
          isBase64Encoded: false,
        }
        return reportResponse(async () => {
          const parsed = await netlify.parseRequestParams(event, lambdaContext, limit)
          return 'statusCode' in parsed ? new Response(null, { status: parsed.statusCode }) : parsed
        })
      },
    }
  },
  async 'aws-lambda'() {
    return {
      async fetch(path, init) {
        const { method, url, headers, body } = await toParts(path, init)
        const event = {
          rawPath: url.pathname,
          rawQueryString: url.search.slice(1),
          headers: Object.fromEntries(headers),
          requestContext: { http: { method } },
          body,
          isBase64Encoded: false,
        }
        return reportResponse(async () => {
          const parsed = await lambda.parseRequestParams(event, lambdaContext, limit)
          return 'statusCode' in parsed ? new Response(null, { status: parsed.statusCode }) : parsed
        })
      },
    }
  },
}

/** Runs a parser, and responds with its result unless it has already responded itself. */
async function report(
  parse: () => Promise<RequestParams | null>,
  answer: (status: number, body: string) => void,
): Promise<void> {
  try {
    const params = await parse()
    if (params) answer(200, JSON.stringify(params))
  } catch (error) {
    answer(418, error instanceof Error ? error.message : '')
  }
}

async function reportResponse(parse: () => Promise<RequestParams | Response>): Promise<Response> {
  try {
    const parsed = await parse()
    return parsed instanceof Response ? parsed : Response.json(parsed)
  } catch (error) {
    return new Response(error instanceof Error ? error.message : '', { status: 418 })
  }
}

async function serve(server: Server): Promise<Running> {
  const origin = `http://127.0.0.1:${await listen(server)}`
  return {
    fetch: (path, init) => fetch(origin + path, init),
    close: () => closeServer(server),
  }
}

async function toParts(path: string, init?: RequestInit) {
  const request = new Request(`http://localhost${path}`, init)
  const { method, headers } = request
  return { method, headers, url: new URL(request.url), body: await request.text() }
}

for (const [name, start] of Object.entries(servers)) {
  describe(`parseRequestParams of ${name}`, () => {
    let server: Running
    before(async () => {
      server = await start()
    })
    after(() => server.close?.())

    const post = (body: string, type = 'application/json') =>
      server.fetch('/', { method: 'POST', headers: { 'content-type': type }, body })

    test('resolves to the parameters of a query in the URL', async () => {
      const response = await server.fetch('/?query={hello}&variables={"a":1}')
      assert.deepEqual(await response.json(), { query: '{hello}', variables: { a: 1 } })
    })

    test('resolves to the parameters of a query in the body', async () => {
      const response = await post('{"query":"{hello}","operationName":"A"}')
      assert.deepEqual(await response.json(), { query: '{hello}', operationName: 'A' })
    })

    test('responds itself to requests that break the protocol', async () => {
      assert.equal((await server.fetch('/', { method: 'PUT' })).status, 405)
      assert.equal((await post('query=', 'application/x-www-form-urlencoded')).status, 415)
      assert.equal((await post(`{"query":"{hello}"}${' '.repeat(100)}`)).status, 413)
    })

    test('throws on malformed parameters', async () => {
      const response = await post('{"query":1}')
      assert.equal(response.status, 418)
      assert.equal(await response.text(), 'Invalid query')
    })
  })
}
