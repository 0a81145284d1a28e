// One contract for all middlewares, each on a real server of its framework.

import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { getRequestListener } from '@hono/node-server'
import { createRateLimiter, type RateLimiter, StoreError } from '@portcullis/ratelimit'
import { limitRequests as limitExpress } from '@portcullis/ratelimit/use/express'
import { limitRequests as limitFastify } from '@portcullis/ratelimit/use/fastify'
import { limitRequests as limitHono } from '@portcullis/ratelimit/use/hono'
import { limitRequests as limitKoa } from '@portcullis/ratelimit/use/koa'
import { limitRequests as limitNode } from '@portcullis/ratelimit/use/node'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { fromNoon } from '../support/noon-clock.ts'

const rules = `
domain: api
descriptors:
  - key: user
    rate_limit: { unit: day, requests_per_unit: 2 }
`

interface Settings {
  readonly limiter: RateLimiter
  readonly domain: 'api'
  readonly onFailure?: 'allow' | 'deny'
  readonly report?: (error: unknown) => void
}

const toDescriptors = (user: string | string[] | undefined) =>
  typeof user === 'string' ? [{ user }] : []

/** A server that greets whoever may pass. */
type Serve = (t: TestContext, settings: Settings) => Promise<string>

const frameworks: Readonly<Record<string, Serve>> = {
  'node http': (t, settings) => {
    const limit = limitNode({
      ...settings,
      descriptors: ({ headers }) => toDescriptors(headers['x-user']),
    })
    return listen(t, (request, response) => {
      void limit(request, response).then((isAllowed) => {
        if (isAllowed) response.end('hello')
      })
    })
  },
  express: (t, settings) => {
    const app = express()
    app.use(limitExpress({ ...settings, descriptors: (req) => toDescriptors(req.get('x-user')) }))
    app.get('/', (_req, res) => {
      res.send('hello')
    })
    return listen(t, app)
  },
  fastify: async (t, settings) => {
    const app = Fastify()
    t.after(() => app.close())
    app.addHook(
      'onRequest',
      limitFastify({ ...settings, descriptors: (req) => toDescriptors(req.headers['x-user']) }),
    )
    app.get('/', async () => 'hello')
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
  koa: (t, settings) => {
    const app = new Koa()
    app.use(
      limitKoa({
        ...settings,
        descriptors: (ctx) => toDescriptors(ctx.get('x-user') || undefined),
      }),
    )
    app.use((ctx) => {
      ctx.body = 'hello'
    })
    return listen(t, app.callback())
  },
  hono: (t, settings) => {
    const app = new Hono()
    app.use(limitHono({ ...settings, descriptors: (c) => toDescriptors(c.req.header('x-user')) }))
    app.get('/', (c) => c.text('hello'))
    return listen(t, getRequestListener(app.fetch, { overrideGlobalObjects: false }))
  },
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

const failing = {
  limit: () => Promise.reject(new StoreError('the store is gone')),
} as unknown as RateLimiter

for (const [name, serve] of Object.entries(frameworks)) {
  const ask = async (url: string, user = 'alice') =>
    await fetch(url, { headers: { 'x-user': user, connection: 'close' } })

  test(`${name}: requests carry the three headers and get 429 beyond the limit`, async (t) => {
    const limiter = createRateLimiter({ rules, now: fromNoon })
    t.after(() => limiter[Symbol.asyncDispose]())
    const url = await serve(t, { limiter, domain: 'api' })
    const first = await ask(url)
    assert.equal(first.status, 200)
    assert.equal(await first.text(), 'hello')
    assert.equal(first.headers.get('ratelimit-limit'), '2')
    assert.equal(first.headers.get('ratelimit-remaining'), '1')
    assert.match(first.headers.get('ratelimit-reset') ?? '', /^[1-9]\d*$/)
    assert.equal((await ask(url)).status, 200)

    const refused = await ask(url)
    assert.equal(refused.status, 429)
    assert.equal(refused.headers.get('ratelimit-remaining'), '0')
    const retryAfter = refused.headers.get('retry-after') ?? ''
    assert.match(retryAfter, /^[1-9]\d*$/)
    assert.match(refused.headers.get('content-type') ?? '', /^application\/json/)
    assert.deepEqual(await refused.json(), {
      error: `Too many requests. Try again in ${retryAfter} seconds.`,
    })
    assert.equal((await ask(url, 'bob')).status, 200)
  })

  test(`${name}: a request that counts as nothing passes without headers`, async (t) => {
    const limiter = createRateLimiter({ rules, now: fromNoon })
    t.after(() => limiter[Symbol.asyncDispose]())
    const url = await serve(t, { limiter, domain: 'api' })
    const answer = await fetch(url, { headers: { connection: 'close' } })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers.get('ratelimit-limit'), null)
  })

  test(`${name}: without a decision requests pass, or get 503 where that is wanted`, async (t) => {
    const reported: unknown[] = []
    const report = (error: unknown) => reported.push(error)
    const allowing = await serve(t, { limiter: failing, domain: 'api', report })
    assert.equal((await ask(allowing)).status, 200)
    const denying = await serve(t, { limiter: failing, domain: 'api', report, onFailure: 'deny' })
    const refused = await ask(denying)
    assert.equal(refused.status, 503)
    assert.deepEqual(await refused.json(), {
      error: 'The rate limit could not be checked. Try again.',
    })
    assert.deepEqual(
      reported.map((error) => error instanceof StoreError),
      [true, true],
    )
  })
}
