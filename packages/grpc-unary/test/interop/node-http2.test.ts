import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type Settings,
} from 'node:http2'
import { type TestContext, test } from 'node:test'
import { staticTable } from '../../src/hpack/static-table.ts'
import type { UnaryCall } from '../../src/index.ts'
import { openAuthority } from '../support/certificates.ts'
import { openEchoServer, until } from '../support/echo-server.ts'
import { grpcMessage } from '../support/raw-client.ts'

// Node's own HTTP/2 client, which is nghttp2, an independent implementation.

const SAY = '/test.Echo/Say'
const LATER = '/test.Echo/Later'
const WAIT = '/test.Echo/Wait'

async function openSession(
  t: TestContext,
  target: string,
  settings: Settings = {},
  ca?: string,
): Promise<ClientHttp2Session> {
  const session = connect(target, { settings, ...(ca !== undefined && { ca }) })
  t.after(() => session.destroy())
  await once(session, 'connect')
  return session
}

interface Answer {
  readonly headers: IncomingHttpHeaders
  readonly trailers: IncomingHttpHeaders
  readonly body: Buffer
}

function open(session: ClientHttp2Session, headers: OutgoingHttpHeaders): ClientHttp2Stream {
  return session.request({
    ':method': 'POST',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
}

async function finish(stream: ClientHttp2Stream): Promise<Answer> {
  let headers: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders = {}
  const chunks: Buffer[] = []
  stream.on('response', (received) => {
    headers = received
  })
  stream.on('trailers', (received) => {
    trailers = received
  })
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(stream, 'close')
  return { headers, trailers, body: Buffer.concat(chunks) }
}

async function call(session: ClientHttp2Session, path: string, text: string): Promise<Answer> {
  const stream = open(session, { ':path': path })
  stream.end(grpcMessage(text))
  return await finish(stream)
}

test('every name of the static table is the same on both ends', async (t) => {
  const names = staticTable
    .map((field) => field?.name ?? '')
    .filter((name) => /^[a-z]/.test(name) && !forbidden.has(name))
  const expected = new Map([...new Set(names)].map((name) => [name, `value of ${name}`]))
  const seen = new Map<string, string | undefined>()
  const { port } = await openEchoServer(t, {
    methods: {
      '/test.Echo/Headers': {
        kind: 'unary',
        handle(call: UnaryCall) {
          for (const name of expected.keys()) seen.set(name, call.header(name))
          call.send(call.buffer, call.start, call.end)
        },
      },
    },
  })
  const session = await openSession(t, `http://127.0.0.1:${port}`)
  // Twice: as literals with indexed names, then from the dynamic table.
  for (let times = 0; times < 2; times++) {
    seen.clear()
    const stream = open(session, { ':path': '/test.Echo/Headers', ...Object.fromEntries(expected) })
    stream.end(grpcMessage('x'))
    assert.equal((await finish(stream)).trailers['grpc-status'], '0')
    assert.deepEqual(seen, expected)
  }
  assert.ok(expected.size > 40)
})

/** Not allowed in a request, or with a special meaning here. */
const forbidden = new Set(['transfer-encoding', 'content-length', 'content-type', 'host'])

test('values of all lengths and characters survive Huffman coding', async (t) => {
  let seen: string | undefined
  const { port } = await openEchoServer(t, {
    methods: {
      '/test.Echo/Header': {
        kind: 'unary',
        handle(call: UnaryCall) {
          seen = call.header('x-value')
          call.send(call.buffer, call.start, call.end)
        },
      },
    },
  })
  const session = await openSession(t, `http://127.0.0.1:${port}`)
  const letters = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join('')
  for (let length = 0; length < 94; length += 3) {
    const value = letters.slice(length) + letters.slice(0, length).repeat(length % 5)
    const stream = open(session, { ':path': '/test.Echo/Header', 'x-value': value })
    stream.end(grpcMessage('x'))
    await finish(stream)
    assert.equal(seen, value)
  }
})

test('responses respect windows of every size', async (t) => {
  const { port } = await openEchoServer(t)
  for (const initialWindowSize of [0, 1, 100, 65_535, 2 ** 20]) {
    const target = `http://127.0.0.1:${port}`
    const session = await openSession(t, target, { initialWindowSize })
    const text = 'w'.repeat(initialWindowSize > 5000 ? 300_000 : 10 * initialWindowSize + 300)
    const stream = open(session, { ':path': SAY })
    stream.end(grpcMessage(text))
    const answer = finish(stream)
    // With a window of 0 nothing can be sent until it is opened.
    if (initialWindowSize === 0) {
      await once(stream, 'response')
      session.settings({ initialWindowSize: 65_535 })
    }
    const { body, trailers } = await answer
    assert.deepEqual(body, grpcMessage(text))
    assert.equal(trailers['grpc-status'], '0')
  }
})

test('a smaller compression table is respected, also when it changes', async (t) => {
  const { port } = await openEchoServer(t)
  const session = await openSession(t, `http://127.0.0.1:${port}`, { headerTableSize: 0 })
  for (const headerTableSize of [100, 4096, 0, 256, 65_536]) {
    const answers = await Promise.all([call(session, SAY, 'a'), call(session, LATER, 'b')])
    for (const { headers, trailers } of answers) {
      assert.equal(headers['content-type'], 'application/grpc')
      assert.equal(trailers['grpc-status'], '0')
    }
    session.settings({ headerTableSize })
    await once(session, 'localSettings')
  }
})

test('calls of one connection do not wait for each other', async (t) => {
  const { port, waiting } = await openEchoServer(t)
  const session = await openSession(t, `http://127.0.0.1:${port}`)
  const slow = call(session, WAIT, 'slow')
  await until(() => waiting.length === 1)
  for (let count = 0; count < 50; count++) {
    assert.equal((await call(session, SAY, `fast ${count}`)).trailers['grpc-status'], '0')
  }
  waiting[0]?.send(Buffer.from('done'), 0, 4)
  assert.deepEqual((await slow).body, grpcMessage('done'))
})

test('PING, trailers and cancellation are understood', async (t) => {
  const { port, waiting } = await openEchoServer(t)
  const session = await openSession(t, `http://127.0.0.1:${port}`)
  await new Promise<void>((resolve, reject) => {
    session.ping((error) => (error ? reject(error) : resolve()))
  })

  const withTrailers = session.request(
    { ':method': 'POST', ':path': SAY, 'content-type': 'application/grpc' },
    { endStream: false },
  )
  withTrailers.end(grpcMessage('with trailers'))
  assert.deepEqual((await finish(withTrailers)).body, grpcMessage('with trailers'))

  const cancelled = open(session, { ':path': WAIT })
  cancelled.end(grpcMessage('x'))
  await until(() => waiting.length === 1)
  cancelled.on('error', () => {})
  cancelled.close(constants.NGHTTP2_CANCEL)
  await until(() => waiting[0]?.isOpen === false)
})

test('requests that are not gRPC get an HTTP response', async (t) => {
  const { port } = await openEchoServer(t)
  const session = await openSession(t, `http://127.0.0.1:${port}`)
  const get = session.request({ ':path': '/' })
  const { headers, body } = await finish(get)
  assert.equal(headers[':status'], 405)
  assert.equal(headers.allow, 'POST')
  assert.match(body.toString(), /POST/)

  const head = await finish(session.request({ ':path': '/', ':method': 'HEAD' }))
  assert.equal(head.headers[':status'], 405)
  assert.equal(head.body.length, 0)

  const post = open(session, { ':path': SAY, 'content-type': 'application/json' })
  post.end('{}')
  assert.equal((await finish(post)).headers[':status'], 415)
})

test('TLS with ALPN: the same calls, and large ones', async (t) => {
  const authority = openAuthority()
  const { port } = await openEchoServer(t, { tls: authority.sign('localhost') })
  const session = await openSession(t, `https://localhost:${port}`, {}, authority.ca)
  assert.equal(session.alpnProtocol, 'h2')
  const texts = ['small', 'x'.repeat(100_000), 'y'.repeat(3 * 2 ** 20)]
  for (const text of texts) {
    assert.deepEqual((await call(session, SAY, text)).body, grpcMessage(text))
  }
})
