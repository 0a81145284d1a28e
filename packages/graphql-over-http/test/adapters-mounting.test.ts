/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { createServer, IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import express from 'express'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import Koa from 'koa'
import { createHandler as createLambdaHandler } from '../src/adapters/aws-lambda.ts'
import { createHandler as createExpressHandler } from '../src/adapters/express.ts'
import { createHandler as createFastifyHandler } from '../src/adapters/fastify.ts'
import { createHandler as createFetchHandler } from '../src/adapters/fetch.ts'
import { createHandler as createHonoHandler } from '../src/adapters/hono.ts'
import { createHandler as createHttpHandler } from '../src/adapters/http.ts'
import { createHandler as createHttp2Handler } from '../src/adapters/http2.ts'
import { createHandler as createKoaHandler } from '../src/adapters/koa.ts'
import { createHandler as createNetlifyHandler } from '../src/adapters/netlify.ts'
import { createHandler as createUwsHandler } from '../src/adapters/uws.ts'
import { closeServer, listen } from './support/hosts/listen.ts'
import { schema } from './support/hosts/schema.ts'

const post = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"query":"{ hello }"}',
}

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  t.after(() => closeServer(server))
  return `http://127.0.0.1:${await listen(server)}`
}

describe('a body that middleware has already read', () => {
  const expectation = /was already read .* mount the GraphQL handler before the body parser/

  test('is reported by the http adapter', async (t) => {
    const log = t.mock.method(console, 'error', () => {})
    const handler = createHttpHandler({ schema })
    const origin = await serve(t, async (req, res) => {
      await req.toArray()
      await handler(req, res)
    })
    const response = await fetch(origin, post)
    assert.equal(response.status, 500)
    assert.equal(await response.text(), '')
    assert.equal(log.mock.callCount(), 1)
    assert.match(String(log.mock.calls[0]?.arguments[1]), expectation)
  })

  test('is reported by the express adapter', async (t) => {
    const log = t.mock.method(console, 'error', () => {})
    const app = express()
    app.use(async (req, _res, next) => {
      await req.toArray()
      next()
    })
    app.all('/', createExpressHandler({ schema }))
    const response = await fetch(await serve(t, app), post)
    assert.equal(response.status, 500)
    assert.equal(log.mock.callCount(), 1)
    assert.match(String(log.mock.calls[0]?.arguments[1]), expectation)
  })

  test('is reported by the koa adapter', async (t) => {
    const log = t.mock.method(console, 'error', () => {})
    const app = new Koa()
    app.use(async (ctx, next) => {
      await ctx.req.toArray()
      await next()
    })
    app.use(createKoaHandler({ schema }))
    const response = await fetch(await serve(t, app.callback()), post)
    assert.equal(response.status, 500)
    assert.equal(log.mock.callCount(), 1)
    assert.match(String(log.mock.calls[0]?.arguments[1]), expectation)
  })

  test('is reported by the fetch adapter', async (t) => {
    const log = t.mock.method(console, 'error', () => {})
    const request = new Request('http://localhost', post)
    await request.text()
    const response = await createFetchHandler({ schema })(request)
    assert.equal(response.status, 500)
    assert.equal(log.mock.callCount(), 1)
    assert.match(
      String(log.mock.calls[0]?.arguments[1]),
      /was already read .* "request\.clone\(\)"/,
    )
  })
})

describe('a response that other code has started', () => {
  test('is left alone', async (t) => {
    const log = t.mock.method(console, 'error', () => {})
    const handler = createHttpHandler({
      schema,
      context: ({ context }) => {
        context.res.writeHead(202).end('mine')
      },
    })
    const response = await fetch(await serve(t, handler), post)
    assert.equal(response.status, 202)
    assert.equal(await response.text(), 'mine')
    assert.equal(log.mock.callCount(), 0)
  })

  test('is left alone when an option throws, too', async (t) => {
    const log = t.mock.method(console, 'error', () => {})
    const handler = createHttpHandler({
      schema,
      context: ({ context }) => {
        context.res.writeHead(202).end('mine')
        throw new Error('too late')
      },
    })
    const response = await fetch(await serve(t, handler), post)
    assert.equal(response.status, 202)
    assert.equal(await response.text(), 'mine')
    assert.equal(log.mock.callCount(), 1)
  })
})

describe('a wrong option', () => {
  const creators: { readonly [name: string]: (options: object) => unknown } = {
    http: createHttpHandler,
    http2: createHttp2Handler,
    express: createExpressHandler,
    fastify: createFastifyHandler,
    koa: createKoaHandler,
    hono: createHonoHandler,
    fetch: createFetchHandler,
    uws: createUwsHandler,
    netlify: createNetlifyHandler,
    'aws-lambda': createLambdaHandler,
  }
  for (const [name, create] of Object.entries(creators)) {
    for (const bodyLimitBytes of [-1, Number.NaN, '1mb', null]) {
      test(`bodyLimitBytes ${bodyLimitBytes} is named by ${name} when the handler is made`, () => {
        assert.throws(() => create({ schema, bodyLimitBytes }), {
          name: 'TypeError',
          message: /"bodyLimitBytes" must be a number of bytes/,
        })
      })
    }
  }
})

test('a request that is not from a server is refused by name', async (t) => {
  const log = t.mock.method(console, 'error', () => {})
  const req = new IncomingMessage(new Socket())
  await createHttpHandler({ schema })(req, new ServerResponse(req))
  assert.match(String(log.mock.calls[0]?.arguments[1]), /Missing request (URL|method)/)
})

test('the fetch adapter makes responses of the given kind', async () => {
  class OwnResponse extends Response {}
  const handler = createFetchHandler(
    {
      schema,
      context: ({ context }) => {
        assert.equal(context.Response, OwnResponse)
        return {}
      },
    },
    { Response: OwnResponse },
  )
  const response = await handler(new Request('http://localhost', post))
  assert.ok(response instanceof OwnResponse)
})

test('a body that Hono middleware has read is taken from Hono', async (t) => {
  const log = t.mock.method(console, 'error', () => {})
  const app = new Hono()
  app.use('/json', async (c, next) => {
    await c.req.json()
    await next()
  })
  app.use('/raw', async (c, next) => {
    await c.req.raw.text()
    await next()
  })
  app.all('/json', createHonoHandler({ schema, bodyLimitBytes: 30 }))
  app.all('/raw', createHonoHandler({ schema }))

  const response = await app.request('/json', post)
  assert.deepEqual(await response.json(), { data: { hello: 'world' } })
  const long = { ...post, body: `{"query":"{ hello } #${'☃'.repeat(10)}"}` }
  assert.equal((await app.request('/json', long)).status, 413)

  assert.equal(log.mock.callCount(), 0)
  assert.equal((await app.request('/raw', post)).status, 500)
  assert.match(String(log.mock.calls[0]?.arguments[1]), /was already read/)
})

test('headers that Hono middleware sets are kept', async () => {
  const app = new Hono()
  app.use(cors({ origin: 'https://example.com' }))
  app.all('/', createHonoHandler({ schema, vary: true }))
  const headers = { ...post.headers, origin: 'https://example.com' }
  const response = await app.request('/', { ...post, headers })
  assert.equal(response.headers.get('access-control-allow-origin'), 'https://example.com')
  assert.equal(response.headers.get('vary'), 'Accept, Origin')
  assert.deepEqual(await response.json(), { data: { hello: 'world' } })
})

test('a content length or a Vary of any spelling is not sent twice', async (t) => {
  const handler = createHttpHandler({
    schema,
    vary: true,
    context: () => [
      'four',
      { status: 200, statusText: 'OK', headers: { 'Content-Length': '99', Vary: 'Origin' } },
    ],
  })
  const response = await fetch(await serve(t, handler), post)
  assert.equal(response.headers.get('content-length'), '4')
  assert.equal(response.headers.get('vary'), 'Origin, Accept')
  assert.equal(await response.text(), 'four')
})

test('Vary is not repeated where it is there already', async (t) => {
  for (const present of ['Accept', 'origin, ACCEPT', '*', 'Accept-Encoding']) {
    const handler = createHttpHandler({ schema, vary: true })
    const origin = await serve(t, (req, res) => {
      res.setHeader('vary', present)
      handler(req, res)
    })
    const response = await fetch(origin, post)
    const expected = present === 'Accept-Encoding' ? 'Accept-Encoding, Accept' : present
    assert.equal(response.headers.get('vary'), expected)
  }
})
