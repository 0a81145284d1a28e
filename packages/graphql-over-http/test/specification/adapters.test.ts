/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http'
import {
  createServer as createHttp2Server,
  Http2ServerRequest,
  Http2ServerResponse,
} from 'node:http2'
import { type TestContext, test } from 'node:test'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { createHandler as createLambdaHandler } from '../../src/adapters/aws-lambda.ts'
import { createHandler as createExpressHandler } from '../../src/adapters/express.ts'
import { createHandler as createFastifyHandler } from '../../src/adapters/fastify.ts'
import { createHandler as createFetchHandler } from '../../src/adapters/fetch.ts'
import { createHandler as createHonoHandler } from '../../src/adapters/hono.ts'
import { createHandler as createHttpHandler } from '../../src/adapters/http.ts'
import { createHandler as createHttp2Handler } from '../../src/adapters/http2.ts'
import { createHandler as createKoaHandler } from '../../src/adapters/koa.ts'
import { createHandler as createNetlifyHandler } from '../../src/adapters/netlify.ts'
import { createHandler as createUwsHandler } from '../../src/adapters/uws.ts'
import { openHttp2Fetch } from '../support/hosts/http2-fetch.ts'
import { closeServer, listen } from '../support/hosts/listen.ts'
import { schema } from '../support/hosts/schema.ts'
import { createUwsExchange } from './uws-exchange.ts'

const RESULT = '{"data":{"hello":"world"}}'
const init = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"query":"{ hello }"}',
}

interface Seen {
  readonly raw: unknown
  readonly context: unknown
}

/** Options whose context function records what the adapter adds to the request. */
function createSpy() {
  const seen: Seen[] = []
  const context = ({ raw, context }: Seen) => {
    seen.push({ raw, context })
  }
  return { options: { schema, context }, seen }
}

function getFromContext(seen: readonly Seen[], name: string): unknown {
  const context = seen[0]?.context
  assert.ok(typeof context === 'object' && context !== null)
  return Reflect.get(context, name)
}

/** Sends a query, and then a method to which only the handler responds in this way. */
async function assertServes(send: (init: RequestInit) => Promise<Response>): Promise<void> {
  const answered = await send(init)
  assert.equal(answered.status, 200)
  assert.equal(await answered.text(), RESULT)
  const refused = await send({ method: 'PUT' })
  assert.equal(refused.status, 405)
  assert.equal(refused.headers.get('allow'), 'GET, POST')
  await refused.text()
}

async function assertServerServes(t: TestContext, server: Server): Promise<void> {
  t.after(() => closeServer(server))
  const url = `http://127.0.0.1:${await listen(server)}/`
  await assertServes((init) => fetch(url, init))
}

test('the http adapter takes the native request and response, and writes to it', async (t) => {
  const { options, seen } = createSpy()
  const handler = createHttpHandler(options)
  const natives: unknown[] = []
  const server = createServer((req, res) => {
    natives.push(req, res)
    handler(req, res)
  })
  await assertServerServes(t, server)
  assert.ok(natives[0] instanceof IncomingMessage && natives[1] instanceof ServerResponse)
  assert.equal(seen[0]?.raw, natives[0])
  assert.deepEqual(seen[0]?.context, { res: natives[1] })
})

test('the http2 adapter takes the native request and response, and writes to it', async (t) => {
  const { options, seen } = createSpy()
  const handler = createHttp2Handler(options)
  const natives: unknown[] = []
  const server = createHttp2Server((req, res) => {
    natives.push(req, res)
    handler(req, res)
  })
  const origin = `http://127.0.0.1:${await listen(server)}`
  const client = openHttp2Fetch(origin)
  t.after(async () => {
    client.close()
    await closeServer(server)
  })
  await assertServes((init) => client.fetch(`${origin}/`, init))
  assert.ok(natives[0] instanceof Http2ServerRequest && natives[1] instanceof Http2ServerResponse)
  assert.equal(seen[0]?.raw, natives[0])
  assert.equal(getFromContext(seen, 'res'), natives[1])
})

test('the express adapter is registered for all methods of a path', async (t) => {
  const { options, seen } = createSpy()
  const app = express()
  const natives: unknown[] = []
  app.use((req, res, next) => {
    natives.push(req, res)
    next()
  })
  app.all('/', createExpressHandler(options))
  await assertServerServes(t, createServer(app))
  assert.equal(seen[0]?.raw, natives[0])
  assert.equal(getFromContext(seen, 'res'), natives[1])
})

test('the fastify adapter is registered for all methods of a path', async (t) => {
  const { options, seen } = createSpy()
  const fastify = Fastify()
  const natives: unknown[] = []
  fastify.addHook('preHandler', async (req, reply) => {
    natives.push(req, reply)
  })
  fastify.all('/', createFastifyHandler(options))
  await fastify.ready()
  await assertServerServes(t, fastify.server)
  assert.equal(seen[0]?.raw, natives[0])
  assert.equal(getFromContext(seen, 'reply'), natives[1])
})

test('the koa adapter is a middleware of a path', async (t) => {
  const { options, seen } = createSpy()
  const app = new Koa()
  const natives: unknown[] = []
  app.use((ctx, next) => {
    natives.push(ctx.req, ctx.response)
    return next()
  })
  app.use(createKoaHandler(options))
  await assertServerServes(t, createServer(app.callback()))
  assert.equal(seen[0]?.raw, natives[0])
  assert.equal(getFromContext(seen, 'res'), natives[1])
})

test('the hono adapter is registered for all methods of a path', async () => {
  const { options, seen } = createSpy()
  const app = new Hono()
  const natives: unknown[] = []
  app.use(async (c, next) => {
    natives.push(c.req.raw, c)
    await next()
  })
  app.all('/', createHonoHandler(options))
  await assertServes(async (init) => app.request('/', init))
  assert.equal(seen[0]?.raw, natives[0])
  assert.equal(getFromContext(seen, 'c'), natives[1])
})

test('the adapter for the native-binding server takes its response and request', async () => {
  const { options, seen } = createSpy()
  const exchange = createUwsExchange('post', init.headers, init.body)
  await createUwsHandler(options)(exchange.res, exchange.req)
  assert.equal(exchange.written.status, '200 OK')
  assert.equal(exchange.written.body, RESULT)
  assert.equal(seen[0]?.raw, exchange.req)
  assert.deepEqual(seen[0]?.context, { res: exchange.res })
})

test('the fetch adapter takes a Request and returns a Response', async () => {
  const { options, seen } = createSpy()
  const request = new Request('http://localhost/', init)
  const response = await createFetchHandler(options)(request)
  assert.ok(response instanceof Response)
  assert.equal(response.status, 200)
  assert.equal(await response.text(), RESULT)
  assert.equal(seen[0]?.raw, request)
})

const functionContext = {
  functionName: 'graphql',
  awsRequestId: 'a-request',
  getRemainingTimeInMillis: () => 1000,
}

test('the adapters for serverless functions take an event and return a result', async () => {
  const event = { headers: init.headers, body: init.body, isBase64Encoded: false }
  const netlifyEvent = { ...event, httpMethod: 'POST', rawUrl: 'https://site.example/graphql' }
  const netlify = createSpy()
  const netlifyResult = await createNetlifyHandler(netlify.options)(netlifyEvent, functionContext)
  assert.deepEqual([netlifyResult.statusCode, netlifyResult.body], [200, RESULT])
  assert.deepEqual(netlify.seen, [{ raw: netlifyEvent, context: functionContext }])

  const lambdaEvent = {
    ...event,
    rawPath: '/graphql',
    rawQueryString: '',
    requestContext: { http: { method: 'POST' } },
  }
  const lambda = createSpy()
  const lambdaResult = await createLambdaHandler(lambda.options)(lambdaEvent, functionContext)
  assert.deepEqual([lambdaResult.statusCode, lambdaResult.body], [200, RESULT])
  assert.deepEqual(lambda.seen, [{ raw: lambdaEvent, context: functionContext }])
})
