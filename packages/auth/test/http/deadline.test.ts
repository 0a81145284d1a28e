/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createLog } from '@portcullis/service-kit/log/log'
import { parseConfig } from '../../src/config/config.ts'
import { json } from '../../src/http/call.ts'
import { defineEndpoint } from '../../src/http/endpoint.ts'
import { Type } from '../../src/http/schema.ts'
import { createServer } from '../../src/http/server.ts'
import type { Services } from '../../src/services.ts'
import { testEnvironment } from '../support/auth-server.ts'
import { sdk, send } from '../support/http-client.ts'
import { openRawConnection } from '../support/raw-connection.ts'

interface Waiting {
  resolve(): void
  reject(error: Error): void
}

/**
 * A server with an endpoint that ends when the test says so. The header timeout is not longer than
 * the request timeout, so the duration must leave room for a busy machine.
 */
async function openServer(t: TestContext, maxRequestDuration: string) {
  const { config } = parseConfig({
    ...testEnvironment,
    DATABASE_URL: 'postgres://unused.example/auth',
    AUTH_API_MAX_REQUEST_DURATION: maxRequestDuration,
  })
  const log: string[] = []
  const waiting: Waiting[] = []
  let limitHangs = false
  const wait = defineEndpoint({
    method: 'POST',
    path: '/wait',
    summary: 'Waits',
    allowed: 'anyone',
    limiter: 'verify',
    body: Type.Object({}),
    success: { status: 200, description: 'It waited' },
    async handle() {
      const { promise, ...ends } = Promise.withResolvers<void>()
      waiting.push(ends)
      await promise
      return json({ waited: true }, { 'x-late': 'yes' })
    },
  })
  const atOnce = defineEndpoint({
    method: 'GET',
    path: '/at-once',
    summary: 'Does not wait',
    allowed: 'anyone',
    success: { status: 200, description: 'It did not wait' },
    handle: async () => json({}),
  })
  const server = createServer({
    endpoints: [wait, atOnce],
    // These are the only services that the endpoints use.
    services: {
      config,
      now: Date.now,
      requestLimits: { take: () => (limitHangs ? new Promise(() => {}) : undefined) },
    } as unknown as Services,
    log: createLog({ level: 'error', format: 'text', write: (line) => log.push(line) }),
  })
  t.after(() => server.close())
  const url = await server.listen({ port: 0, host: '127.0.0.1' })
  return {
    url,
    log,
    waiting,
    server,
    hangLimit() {
      limitHangs = true
    },
  }
}

/** Opens a connection first, because the header timeout could expire on a busy machine. */
async function warmUp(url: string): Promise<void> {
  while ((await send(url, '/at-once')).status !== 200);
}

const timedOut = [
  504,
  'request_timeout',
  'Processing this request timed out, please retry after a moment.',
]

test('a request that takes too long', async (t) => {
  await t.test('gets a 504 in the usual error format', async (t) => {
    const { url } = await openServer(t, '1s')
    await warmUp(url)
    const plain = await send(url, '/wait', { body: {} })
    assert.deepEqual([plain.status, plain.body.error_code, plain.body.msg], timedOut)
    assert.equal(plain.body.code, 504)
    assert.match(plain.body.error_id, /^[\da-f-]{36}$/)
    assert.equal(plain.headers.get('cache-control'), 'no-store')
    const { body } = await send(url, '/wait', { body: {}, headers: sdk })
    assert.deepEqual([body.code, body.message], timedOut.slice(1))
  })

  await t.test('ends later without effect, and the connection stays usable', async (t) => {
    const { url, log, waiting } = await openServer(t, '1s')
    const connection = await openRawConnection(t, url)
    const body = 'content-type: application/json\r\ncontent-length: 2\r\n\r\n{}'
    const answers = async (count: number) => {
      let text = ''
      while (text.split('HTTP/1.1 ').length <= count) {
        text += (await once(connection.socket, 'data'))[0]
      }
      return text
    }
    for (const end of ['resolve', 'reject'] as const) {
      connection.write(`POST /wait HTTP/1.1\r\nhost: x\r\n${body}`)
      assert.match(await answers(1), /^HTTP\/1\.1 504 [\s\S]*keep-alive[\s\S]*request_timeout/)
      waiting.shift()?.[end](new Error('the handler failed late'))
    }
    connection.write('GET /at-once HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    const rest = await connection.received
    assert.equal(rest.match(/HTTP\/1\.1 504/g)?.length, 2)
    assert.equal(rest.match(/HTTP\/1\.1 200/g)?.length, 1)
    assert.doesNotMatch(rest, /waited|x-late|failed late/)
    assert.match(log.join(''), /the handler failed late/)
  })

  await t.test('times out wherever it waits', async (t) => {
    const { url, hangLimit, waiting } = await openServer(t, '1s')
    await warmUp(url)
    hangLimit()
    const { status } = await send(url, '/wait', { body: {} })
    assert.deepEqual([status, waiting.length], [504, 0])
  })

  await t.test('gets a response if its body is slow, and its connection is closed', async (t) => {
    const { url, waiting } = await openServer(t, '1s')
    const slow = await openRawConnection(t, url)
    slow.write('POST /wait HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n')
    slow.write('content-length: 100\r\n\r\n{')
    const received = await slow.received
    assert.match(received, /^HTTP\/1\.1 504 [\s\S]*connection: close[\s\S]*request_timeout/)
    assert.equal(waiting.length, 0)
  })
})

test('a client that never finishes its headers is disconnected', async (t) => {
  const { url } = await openServer(t, '1s')
  const silent = await openRawConnection(t, url)
  const slow = await openRawConnection(t, url)
  slow.write('GET /at-once HTTP/1.1\r\nhost: ')
  const received = await slow.received
  assert.match(received, /^HTTP\/1\.1 408 [\s\S]*connection: close/i)
  const body = JSON.parse(received.slice(received.indexOf('\r\n\r\n')))
  assert.deepEqual([body.code, body.error_code], [408, 'request_timeout'])
  await silent.received
  // Other clients are still served.
  assert.equal((await send(url, '/at-once')).status, 200)
})

test('a request that arrived while the server was paused gets a response', async (t) => {
  const { url, server, waiting } = await openServer(t, '1s')
  // The client runs in a separate thread, because the pause blocks this one.
  const script = `
    const { parentPort, workerData } = require('node:worker_threads')
    const socket = require('node:net').connect(workerData, '127.0.0.1')
    socket.write('POST /wait HTTP/1.1\\r\\nhost: x\\r\\ncontent-length: 2\\r\\n\\r\\n{}')
    socket.on('data', (bytes) => parentPort.postMessage(String(bytes)))`
  server.server.once('connection', () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000)
  })
  const client = new Worker(script, { eval: true, workerData: Number(new URL(url).port) })
  t.after(() => client.terminate())
  let received = ''
  client.on('message', (text) => {
    received += text
  })
  while (waiting.length === 0 && received === '') await setImmediate()
  // Keep the request open while a late refusal would be sent.
  await setImmediate()
  waiting.shift()?.resolve()
  while (received === '') await setImmediate()
  assert.match(received, /^HTTP\/1\.1 200 /)
})

test('the header timeout is two seconds when the request timeout is ten', async (t) => {
  const { server } = await openServer(t, '10s')
  assert.equal(server.server.headersTimeout, 2_000)
  assert.equal(server.server.requestTimeout, 12_000)
})

test('AUTH_API_MAX_REQUEST_DURATION must be within its range', () => {
  for (const text of ['0s', '25h']) {
    const { faults } = parseConfig({
      ...testEnvironment,
      DATABASE_URL: 'postgres://unused.example/auth',
      AUTH_API_MAX_REQUEST_DURATION: text,
    })
    assert.deepEqual(
      faults.map(({ variable, message }) => [variable, message]),
      [['AUTH_API_MAX_REQUEST_DURATION', 'must be between 1ms and 1h']],
    )
  }
})

test('input that is not HTTP gets a JSON error', async (t) => {
  const { url } = await openServer(t, '10s')
  const cases = [
    ['NONSENSE\r\n\r\n', 400, 'validation_failed'],
    [`GET / HTTP/1.1\r\nx: ${'a'.repeat(70_000)}\r\n\r\n`, 431, 'request_entity_too_large'],
  ] as const
  for (const [text, status, code] of cases) {
    const connection = await openRawConnection(t, url)
    connection.write(text)
    const received = await connection.received
    assert.ok(received.startsWith(`HTTP/1.1 ${status} `), received)
    assert.equal(JSON.parse(received.slice(received.indexOf('\r\n\r\n'))).error_code, code)
  }
})
