import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import * as lambda from '../src/adapters/aws-lambda.ts'
import * as expressAdapter from '../src/adapters/express.ts'
import * as fastifyAdapter from '../src/adapters/fastify.ts'
import * as fetchAdapter from '../src/adapters/fetch.ts'
import * as honoAdapter from '../src/adapters/hono.ts'
import * as httpAdapter from '../src/adapters/http.ts'
import * as http2Adapter from '../src/adapters/http2.ts'
import * as koaAdapter from '../src/adapters/koa.ts'
import * as netlify from '../src/adapters/netlify.ts'
import { hostNames } from '../src/adapters/shared/wrong-host.ts'
import * as uws from '../src/adapters/uws.ts'
import { closeServer, listen } from './support/hosts/listen.ts'
import { schema } from './support/hosts/schema.ts'

test('the list of hosts names every adapter', () => {
  const files = readdirSync(join(import.meta.dirname, '../src/adapters'))
  const adapters = files.filter((file) => file.endsWith('.ts')).map((file) => file.slice(0, -3))
  assert.deepEqual(hostNames.toSorted(), adapters.sort())
})

/** Handlers by adapter. Their types do not match, but JavaScript code can mix them up. */
const handlers = {
  http: httpAdapter.createHandler({ schema }),
  http2: http2Adapter.createHandler({ schema }),
  express: expressAdapter.createHandler({ schema }),
  fastify: fastifyAdapter.createHandler({ schema }),
  koa: koaAdapter.createHandler({ schema }),
  hono: honoAdapter.createHandler({ schema }),
  fetch: fetchAdapter.createHandler({ schema }),
  uws: uws.createHandler({ schema }),
  netlify: netlify.createHandler({ schema }),
  'aws-lambda': lambda.createHandler({ schema }),
} as { readonly [name: string]: unknown }

type Name = keyof typeof handlers & string

async function send(t: TestContext, listener: (handler: never) => never, name: Name) {
  const server = createServer(listener(handlers[name] as never))
  t.after(() => closeServer(server))
  const url = `http://127.0.0.1:${await listen(server)}/graphql?query={hello}`
  return (await fetch(url)).status
}

const advice = (used: string, right: string) =>
  `The handler of "@portcullis/graphql-over-http/use/${used}" was called with the arguments of ` +
  `another host. Import createHandler from "@portcullis/graphql-over-http/use/${right}" instead.`

/** Servers that call a handler with a Node response, and the adapters that support it. */
const NODE_HOSTS: readonly (readonly [host: Name, right: readonly Name[], build: unknown])[] = [
  ['http', ['http', 'http2', 'express'], (handler: never) => handler],
  ['express', ['http', 'http2', 'express'], (handler: never) => express().all('/graphql', handler)],
]

for (const [host, right, build] of NODE_HOSTS) {
  test(`${host}: a handler of another adapter is answered with 500, and the log names the right one`, async (t) => {
    const log = t.mock.method(console, 'error', () => {})
    for (const name of Object.keys(handlers)) {
      const status = await send(t, build as never, name)
      const logged = log.mock.calls.map(({ arguments: [, error] }) => Object(error).message)
      log.mock.resetCalls()
      assert.equal(status, right.includes(name) ? 200 : 500, name)
      assert.deepEqual(logged, right.includes(name) ? [] : [advice(name, host)])
    }
  })
}

test('fastify, koa and hono get an exception that names the right adapter', async (t) => {
  const thrown: string[] = []
  const keep = (error: unknown) => {
    thrown.push(Object(error).message)
  }
  const hosts: { readonly [name: string]: (handler: never) => Promise<number> } = {
    fastify: async (handler) => {
      const app = Fastify()
      t.after(() => app.close())
      app.setErrorHandler((error, _req, reply) => {
        keep(error)
        reply.code(500).send()
      })
      app.all('/graphql', handler)
      return (await app.inject('/graphql?query={hello}')).statusCode
    },
    koa: async (handler) => {
      const app = new Koa()
      app.use(handler)
      app.on('error', keep)
      const server = createServer(app.callback())
      t.after(() => closeServer(server))
      return (await fetch(`http://127.0.0.1:${await listen(server)}/?query={hello}`)).status
    },
    hono: async (handler) => {
      const app = new Hono()
      app.all('/graphql', handler)
      app.onError((error, c) => {
        keep(error)
        return c.text('', 500)
      })
      return (await app.request('/graphql?query={hello}')).status
    },
  }
  for (const [host, serve] of Object.entries(hosts)) {
    for (const name of Object.keys(handlers)) {
      const status = await serve(handlers[name] as never)
      assert.equal(status, name === host ? 200 : 500, `${name} on ${host}`)
      assert.deepEqual(thrown.splice(0), name === host ? [] : [advice(name, host)])
    }
  }
})

test('a handler that is called with anything else rejects and refers to the manual', async () => {
  for (const name of Object.keys(handlers)) {
    const handler = handlers[name] as unknown as (...args: unknown[]) => Promise<unknown>
    for (const args of [[], [{}], [{}, {}], [null, null]]) {
      await assert.rejects(handler(...args), /the table of hosts in the manual/, name)
    }
  }
})
