import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import {
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2'
import { type AddressInfo, createServer as createNetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Metadata, Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js'
import { openGrpcClient } from '../src/client.ts'
import { status } from '../src/status.ts'

const bytes = (message: Buffer): Buffer => message
const service = Object.fromEntries(
  ['Echo', 'Fail', 'Wait', 'Headers'].map((name) => [
    name,
    {
      path: `/test.Service/${name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: bytes,
      requestDeserialize: bytes,
      responseSerialize: bytes,
      responseDeserialize: bytes,
    },
  ]),
) satisfies ServiceDefinition

/** A server from another library, and what it received. */
async function openServer(t: TestContext, address = '127.0.0.1:0') {
  const seen = {
    deadlineMs: 0,
    isWaiting: Promise.withResolvers<void>(),
    isCancelled: Promise.withResolvers<void>(),
  }
  const server = new Server()
  server.addService(service, {
    Echo: (call: { request: Buffer }, answer: (error: null, message: Buffer) => void) =>
      answer(null, call.request),
    Fail: (_call: unknown, answer: (error: object) => void) =>
      answer({ code: status.FAILED_PRECONDITION, details: 'größer als 100 %\n' }),
    Wait: (call: {
      getDeadline(): Date | number
      on(event: 'cancelled', listener: () => void): unknown
    }) => {
      seen.deadlineMs = call.getDeadline().valueOf() - Date.now()
      call.on('cancelled', () => seen.isCancelled.resolve())
      seen.isWaiting.resolve()
    },
    Headers: (
      call: { metadata: Metadata; sendMetadata(metadata: Metadata): void },
      answer: (error: null, message: Buffer, trailer: Metadata) => void,
    ) => {
      const headers = new Metadata()
      headers.set('x-answer', `${call.metadata.get('x-question')[0]}!`)
      call.sendMetadata(headers)
      const trailers = new Metadata()
      trailers.set('x-trailer', 'last')
      answer(null, Buffer.alloc(0), trailers)
    },
  })
  t.after(() => server.forceShutdown())
  const credentials = ServerCredentials.createInsecure()
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(address, credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  )
  return { seen, address: address.startsWith('unix:') ? address : `127.0.0.1:${port}` }
}

async function openPair(t: TestContext) {
  const server = await openServer(t)
  const client = await openGrpcClient({ address: server.address })
  t.after(() => client.close())
  return { ...server, client }
}

/** A server that can send arbitrary HTTP/2 responses. */
async function openRawServer(
  t: TestContext,
  answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  options: ServerOptions = {},
) {
  const server = createServer(options)
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    answer(stream, headers)
  })
  server.on('session', (session) => t.after(() => session.destroy()))
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = await openGrpcClient({ address: `127.0.0.1:${port}`, maxResponseBytes: 1_000 })
  t.after(() => client.close())
  return client
}

test('a call is answered with the message of the server', async (t) => {
  const { client } = await openPair(t)
  for (const length of [0, 1, 100_000]) {
    const message = Buffer.alloc(length, 7)
    const { code, response } = await client.call('/test.Service/Echo', message)
    assert.equal(code, status.OK)
    assert.deepEqual(response, message)
  }
})

test('concurrent calls share the connection', async (t) => {
  const { client } = await openPair(t)
  const calls = Array.from({ length: 300 }, (_, index) =>
    client.call('/test.Service/Echo', Buffer.from(`${index}`)),
  )
  const answers = (await Promise.all(calls)).map(({ response }) => response.toString())
  assert.deepEqual(answers, [...Array(300).keys()].map(String))
})

test('a status other than OK has its message', async (t) => {
  const { client } = await openPair(t)
  const failed = await client.call('/test.Service/Fail', Buffer.alloc(0))
  assert.equal(failed.code, status.FAILED_PRECONDITION)
  assert.equal(failed.message, 'größer als 100 %\n')
  const unknown = await client.call('/test.Service/Nothing', Buffer.alloc(0))
  assert.equal(unknown.code, status.UNIMPLEMENTED)
})

test('headers go to the server, and headers and trailers come back', async (t) => {
  const { client } = await openPair(t)
  const { headers, trailers } = await client.call('/test.Service/Headers', Buffer.alloc(0), {
    headers: { 'x-question': 'why' },
  })
  assert.equal(headers['x-answer'], 'why!')
  assert.equal(trailers['x-trailer'], 'last')
})

test('a call ends at its deadline, which is sent to the server', async (t) => {
  const { client, seen } = await openPair(t)
  const { code } = await client.call('/test.Service/Wait', Buffer.alloc(0), { deadlineMs: 3_000 })
  assert.equal(code, status.DEADLINE_EXCEEDED)
  assert.ok(seen.deadlineMs > 0 && seen.deadlineMs <= 3_000, `${seen.deadlineMs}`)
  await seen.isCancelled.promise
})

/**
 * Runs in its own thread, so that it can answer while the main thread is blocked. It signals when
 * it has received the call and when the answer was sent.
 */
const busyCallersServer = `
  const { createServer } = require('node:http2')
  const { parentPort, workerData } = require('node:worker_threads')
  const server = createServer()
  server.on('stream', (stream, headers) => {
    parentPort.postMessage('asked')
    Atomics.wait(workerData, 0, 0)
    stream.on('close', () => {
      Atomics.store(workerData, 0, 2)
      Atomics.notify(workerData, 0)
    })
    const type = { 'content-type': 'application/grpc' }
    if (headers[':path'] === '/refused') {
      stream.respond({ ...type, 'grpc-status': '9' }, { endStream: true })
      return
    }
    stream.respond(type, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(Buffer.from([0, 0, 0, 0, 1, 7]))
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

test('a response that arrived in time is accepted, however busy the caller was', async (t) => {
  const deadlineMs = 2_500
  for (const [path, code] of [
    ['/answered', status.OK],
    ['/refused', status.FAILED_PRECONDITION],
  ] as const) {
    const mayAnswer = new Int32Array(new SharedArrayBuffer(4))
    const worker = new Worker(busyCallersServer, { eval: true, workerData: mayAnswer })
    t.after(() => worker.terminate())
    const [port] = await once(worker, 'message')
    const client = await openGrpcClient({ address: `127.0.0.1:${port}` })
    t.after(() => client.close())
    const call = client.call(path, Buffer.alloc(0), { deadlineMs })
    await once(worker, 'message')
    Atomics.store(mayAnswer, 0, 1)
    Atomics.notify(mayAnswer, 0)
    // Nothing is read before the answer was sent and the deadline has passed.
    assert.notEqual(Atomics.wait(mayAnswer, 0, 1, 60_000), 'timed-out')
    Atomics.wait(mayAnswer, 0, 2, deadlineMs)
    assert.equal((await call).code, code)
  }
})

test('a call can be cancelled, before and while it waits', async (t) => {
  const { client, seen } = await openPair(t)
  const path = '/test.Service/Wait'
  const { code } = await client.call(path, Buffer.alloc(0), { signal: AbortSignal.abort() })
  assert.equal(code, status.CANCELLED)
  const later = new AbortController()
  const call = client.call(path, Buffer.alloc(0), { signal: later.signal })
  await seen.isWaiting.promise
  later.abort()
  assert.equal((await call).code, status.CANCELLED)
  await seen.isCancelled.promise
})

test('a unix socket is an address', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'grpc-client-'))
  t.after(() => rm(folder, { recursive: true }))
  const { address } = await openServer(t, `unix:${join(folder, 'socket')}`)
  for (const written of [address, address.replace('unix:', 'unix://')]) {
    const client = await openGrpcClient({ address: written })
    t.after(() => client.close())
    const { response } = await client.call('/test.Service/Echo', Buffer.from('hello'))
    assert.equal(response.toString(), 'hello')
  }
})

test('closing the client ends open calls, and later ones are unavailable', async (t) => {
  const { client } = await openPair(t)
  const call = client.call('/test.Service/Wait', Buffer.alloc(0))
  await client.close()
  await client.close()
  assert.equal((await call).code, status.CANCELLED)
  const { code } = await client.call('/test.Service/Echo', Buffer.alloc(0))
  assert.equal(code, status.UNAVAILABLE)
})

test('opening fails with the address if no server listens', async () => {
  const server = createNetServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  await assert.rejects(openGrpcClient({ address: `127.0.0.1:${port}` }), {
    message: new RegExp(`^127\\.0\\.0\\.1:${port}: .*ECONNREFUSED`),
  })
  await assert.rejects(openGrpcClient({ address: `localhost:${port}` }), /ECONNREFUSED/)
})

test('an invalid address is refused', async () => {
  for (const address of ['localhost', '', ':80', 'host:', 'host:x', 'host:99999', 'a:b:80']) {
    await assert.rejects(openGrpcClient({ address }), TypeError, address)
  }
})

test('a lost connection makes the call unavailable', async (t) => {
  const client = await openRawServer(t, (stream) => stream.session?.destroy())
  const { code } = await client.call('/a/b', Buffer.alloc(0))
  assert.equal(code, status.UNAVAILABLE)
})

test('a peer that does not speak HTTP/2 makes the call fail', async (t) => {
  const server = createNetServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = await openGrpcClient({ address: `127.0.0.1:${port}` })
  t.after(() => client.close())
  const { code, message } = await client.call('/a/b', Buffer.alloc(0))
  assert.notEqual(code, status.OK)
  assert.notEqual(message, '')
})

test('responses that are not gRPC get the code from the specification', async (t) => {
  const client = await openRawServer(t, (stream, headers) => {
    stream.respond({ ':status': Number(String(headers[':path']).slice(1)) })
    stream.end('<html>')
  })
  const codes = async (httpStatus: number) =>
    (await client.call(`/${httpStatus}`, Buffer.alloc(0))).code
  assert.equal(await codes(404), status.UNIMPLEMENTED)
  assert.equal(await codes(401), status.UNAUTHENTICATED)
  assert.equal(await codes(403), status.PERMISSION_DENIED)
  assert.equal(await codes(503), status.UNAVAILABLE)
  assert.equal(await codes(400), status.INTERNAL)
  assert.equal(await codes(500), status.UNKNOWN)
})

test('a reset stream gets the code from the specification', async (t) => {
  const client = await openRawServer(t, (stream, headers) =>
    stream.close(Number(String(headers[':path']).slice(1))),
  )
  const codes = async (reset: number) => (await client.call(`/${reset}`, Buffer.alloc(0))).code
  assert.equal(await codes(constants.NGHTTP2_REFUSED_STREAM), status.UNAVAILABLE)
  assert.equal(await codes(constants.NGHTTP2_ENHANCE_YOUR_CALM), status.RESOURCE_EXHAUSTED)
  assert.equal(await codes(constants.NGHTTP2_CANCEL), status.CANCELLED)
  assert.equal(await codes(constants.NGHTTP2_INTERNAL_ERROR), status.INTERNAL)
})

test('a response that is too long, missing, compressed or truncated is an error', async (t) => {
  const bodies: Record<string, Buffer> = {
    '/long': Buffer.alloc(5_000),
    '/missing': Buffer.alloc(0),
    '/compressed': Buffer.from([1, 0, 0, 0, 1, 0]),
    '/cut': Buffer.from([0, 0, 0, 0, 9, 0]),
    '/two': Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    '/fine': Buffer.from([0, 0, 0, 0, 1, 65]),
  }
  const client = await openRawServer(t, (stream, headers) => {
    stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(bodies[String(headers[':path'])])
  })
  const codes = async (path: string) => (await client.call(path, Buffer.alloc(0))).code
  assert.equal(await codes('/long'), status.RESOURCE_EXHAUSTED)
  assert.equal(await codes('/missing'), status.INTERNAL)
  assert.equal(await codes('/compressed'), status.INTERNAL)
  assert.equal(await codes('/cut'), status.INTERNAL)
  assert.equal(await codes('/two'), status.INTERNAL)
  assert.equal(await codes('/fine'), status.OK)
})

test('a message that is not percent-encoded correctly is returned unchanged', async (t) => {
  const client = await openRawServer(t, (stream) =>
    stream.respond(
      { 'content-type': 'application/grpc', 'grpc-status': '2', 'grpc-message': '100%' },
      { endStream: true },
    ),
  )
  const { code, message } = await client.call('/a/b', Buffer.alloc(0))
  assert.deepEqual({ code, message }, { code: status.UNKNOWN, message: '100%' })
})

test('long deadlines are encoded in at most eight digits', async (t) => {
  const client = await openRawServer(t, (stream, headers) =>
    stream.respond(
      { 'grpc-status': '2', 'grpc-message': String(headers['grpc-timeout']) },
      { endStream: true },
    ),
  )
  const header = async (deadlineMs: number) =>
    (await client.call('/a/b', Buffer.alloc(0), { deadlineMs })).message
  assert.equal(await header(1_234.5), '1235m')
  assert.equal(await header(2_000_000_000), '2000000S')
})
