import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createHealthCheckHandler } from '../../src/transports/health.ts'
import {
  type HttpListenerSettings,
  openHttpListener,
  sendText,
} from '../../src/transports/http-listener.ts'
import { exchangeRaw } from '../support/raw-http.ts'

async function openExample(t: TestContext, settings: Partial<HttpListenerSettings> = {}) {
  const health = { isHealthy: true }
  const listener = await openHttpListener({
    host: '127.0.0.1',
    port: 0,
    routes: { '/healthcheck': createHealthCheckHandler(health) },
    ...settings,
  })
  t.after(() => listener[Symbol.asyncDispose]())
  return { health, listener, url: `http://127.0.0.1:${listener.port}` }
}

test('a healthy service answers OK to any method', async (t) => {
  const { url } = await openExample(t)
  for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
    const response = await fetch(`${url}/healthcheck?verbose=1`, { method })
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(await response.text(), 'OK')
  }
})

test('an unhealthy service answers 500 without a body, and recovers', async (t) => {
  const { url, health } = await openExample(t)
  health.isHealthy = false
  const response = await fetch(`${url}/healthcheck`)
  assert.deepEqual([response.status, await response.text()], [500, ''])
  health.isHealthy = true
  assert.equal((await fetch(`${url}/healthcheck`)).status, 200)
})

test('paths are exact', async (t) => {
  const { url } = await openExample(t)
  for (const path of ['/', '/healthcheck/', '/HEALTHCHECK', '/constructor', '/x?/healthcheck']) {
    const response = await fetch(url + path)
    assert.equal(response.status, 404, path)
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(await response.text(), '404 page not found\n')
  }
})

test('a proxy may send the whole URL as the target', async (t) => {
  const { listener } = await openExample(t)
  const target = `http://127.0.0.1:${listener.port}/healthcheck?x`
  const answer = await exchangeRaw(
    t,
    listener.port,
    `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  )
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n[\s\S]*OK$/)
})

test('bytes that are not HTTP get 400, and the listener keeps running', async (t) => {
  const { listener, url } = await openExample(t)
  const garbage = Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 31) % 256))
  assert.match(await exchangeRaw(t, listener.port, garbage), /^HTTP\/1\.1 400 /)
  const headers = `X: ${'a'.repeat(20_000)}\r\n`
  const large = `GET /healthcheck HTTP/1.1\r\nHost: x\r\n${headers}\r\n`
  assert.match(await exchangeRaw(t, listener.port, large), /^HTTP\/1\.1 431 /)
  assert.equal((await fetch(`${url}/healthcheck`)).status, 200)
})

test('a client that never completes its headers is disconnected', async (t) => {
  // Long enough for a busy machine to read the first bytes.
  const timeouts = { headersMs: 2_500, requestMs: 60_000, idleMs: 60_000 }
  const { listener } = await openExample(t, { timeouts })
  const answer = await exchangeRaw(
    t,
    listener.port,
    'GET /healthcheck HTTP/1.1\r\nHost: x\r\nX-Slow',
  )
  assert.match(answer, /^HTTP\/1\.1 408 /)
})

test('a client that sends nothing is disconnected', async (t) => {
  const { listener } = await openExample(t, {
    timeouts: { headersMs: 60_000, requestMs: 60_000, idleMs: 50 },
  })
  assert.equal(await exchangeRaw(t, listener.port), '')
})

test('closing waits for outstanding responses, and ends idle connections', async (t) => {
  const reached = Promise.withResolvers<() => void>()
  const { listener, url } = await openExample(t, {
    routes: {
      '/slow': (_request, response) => reached.resolve(() => sendText(response, 200, 'done\n')),
    },
  })
  const idle = connect(listener.port, '127.0.0.1')
  t.after(() => idle.destroy())
  await once(idle, 'connect')
  const slow = fetch(`${url}/slow`)
  const answer = await reached.promise
  let isClosed = false
  const closed = listener.close().then(() => {
    isClosed = true
  })
  await once(idle, 'close')
  assert.equal(isClosed, false)
  answer()
  assert.equal(await (await slow).text(), 'done\n')
  await closed
  await assert.rejects(fetch(`${url}/slow`))
})

test('closing ends when the signal is aborted', async (t) => {
  const reached = Promise.withResolvers<void>()
  const { listener, url } = await openExample(t, { routes: { '/stuck': () => reached.resolve() } })
  const stuck = assert.rejects(fetch(`${url}/stuck`))
  await reached.promise
  const giveUp = new AbortController()
  const closed = listener.close(giveUp.signal)
  giveUp.abort()
  await closed
  await stuck
})

test('a port in use is an error', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await assert.rejects(openHttpListener({ host: '127.0.0.1', port, routes: {} }), {
    code: 'EADDRINUSE',
  })
})
