/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import express from 'express'
import Koa from 'koa'
import { createHandler as createLambdaHandler } from '../../src/adapters/aws-lambda.ts'
import { createHandler as createExpressHandler } from '../../src/adapters/express.ts'
import { createHandler as createFetchHandler } from '../../src/adapters/fetch.ts'
import { createHandler as createHttpHandler } from '../../src/adapters/http.ts'
import { createHandler as createKoaHandler } from '../../src/adapters/koa.ts'
import { closeServer, listen } from '../support/hosts/listen.ts'
import { schema } from '../support/schema.ts'

const QUERY = '{"query":"{ hello }"}'
const json = { 'content-type': 'application/json' }

/** A stream that counts the bytes read from it. */
function createEndless(chunk: Uint8Array) {
  const state = { sent: 0, isCancelled: false }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        state.sent += chunk.byteLength
        controller.enqueue(chunk)
      },
      cancel() {
        state.isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, state }
}

test('a false content length does not bypass the limit', async () => {
  const handler = createFetchHandler({ schema, bodyLimitBytes: 1000 })
  for (const length of ['1', '0', '-1', 'NaN', '1e1', '', '10, 10']) {
    const { stream, state } = createEndless(new Uint8Array(300))
    const headers = new Headers(json)
    // A runtime passes on the client's header; the constructor of a request would refuse some
    // values.
    const request = Object.assign(Object.create(null), {
      url: 'http://localhost/',
      method: 'POST',
      bodyUsed: false,
      body: stream,
      headers: { get: (name: string) => (name === 'content-length' ? length : headers.get(name)) },
    })
    const response = await handler(request)
    assert.equal(response.status, 413, length)
    assert.equal(state.sent, 1200)
    assert.equal(state.isCancelled, true)
  }
})

test('a body that is too large by its declared length is not read at all', async () => {
  const { stream, state } = createEndless(new Uint8Array(300))
  const request = new Request('http://localhost/', {
    method: 'POST',
    headers: { ...json, 'content-length': '1001' },
    body: stream,
    duplex: 'half',
  } as RequestInit)
  const response = await createFetchHandler({ schema, bodyLimitBytes: 1000 })(request)
  assert.equal(response.status, 413)
  assert.equal(state.sent, 0)
})

test('a compressed body is not inflated, whatever its encoding is called', async (t) => {
  const app = express()
  app.all('/', createExpressHandler({ schema }))
  const koa = new Koa()
  koa.use(createKoaHandler({ schema }))
  const fetchHandler = createFetchHandler({ schema })
  const origins = await Promise.all(
    [createHttpHandler({ schema }), app, koa.callback()].map(async (listener) => {
      const server = createServer(listener)
      t.after(() => closeServer(server))
      return `http://127.0.0.1:${await listen(server)}/`
    }),
  )
  const senders = [
    ...origins.map((origin) => (init: RequestInit) => fetch(origin, init)),
    (init: RequestInit) => fetchHandler(new Request('http://localhost/', init)),
  ]
  for (const [encoding, bytes] of [
    ['gzip', gzipSync(QUERY)],
    ['deflate', deflateSync(QUERY)],
    ['br', brotliCompressSync(QUERY)],
  ] as const) {
    for (const send of senders) {
      const headers = { ...json, 'content-encoding': encoding }
      const response = await send({ method: 'POST', headers, body: Buffer.from(bytes) })
      assert.equal(response.status, 415, encoding)
      assert.equal(response.headers.get('accept-encoding'), 'identity')
      assert.match(await response.text(), /Content-Encoding is not supported/)
    }
  }
})

test('the limit applies to the bytes decoded from base64, not to its characters', async () => {
  const handler = createLambdaHandler({ schema, bodyLimitBytes: 1000 })
  const send = async (bytes: number) => {
    const event = {
      rawPath: '/',
      rawQueryString: '',
      headers: json,
      requestContext: { http: { method: 'POST' } },
      body: Buffer.from(QUERY.padEnd(bytes)).toString('base64'),
      isBase64Encoded: true,
    }
    const context = {
      functionName: 'graphql',
      awsRequestId: 'a-request',
      getRemainingTimeInMillis: () => 1000,
    }
    return (await handler(event, context)).statusCode
  }
  assert.equal(await send(1000), 200)
  assert.equal(await send(1001), 413)
})

test('text of a parser is measured in bytes', async (t) => {
  const app = express()
  app.use(express.text({ type: 'application/json' }))
  app.all('/', createExpressHandler({ schema, bodyLimitBytes: 100 }))
  const server = createServer(app)
  t.after(() => closeServer(server))
  const origin = `http://127.0.0.1:${await listen(server)}/`
  const send = async (text: string) => {
    // Chunked, so that no length is declared.
    const body = new Blob([text]).stream()
    const init = { method: 'POST', headers: json, body, duplex: 'half' }
    const response = await fetch(origin, init as RequestInit)
    await response.text()
    return response.status
  }
  assert.equal(await send(`{"query":"{ hello } #${'☃'.repeat(25)}"}`), 200)
  assert.equal(await send(`{"query":"{ hello } #${'☃'.repeat(26)}"}`), 413)
})
