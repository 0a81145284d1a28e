import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode, flag, frameType, MAX_STREAM_ID } from '../src/http2/frames.ts'
import { createGrpcServer } from '../src/index.ts'
import { openEchoServer, until } from './support/echo-server.ts'
import { callUnary, openGrpcJsClient } from './support/grpc-js-client.ts'
import { frame, RawClient, unaryCall } from './support/raw-client.ts'

const SAY = '/test.Echo/Say'
const WAIT = '/test.Echo/Wait'

async function openFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'grpc-unary-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

function createEcho() {
  return createGrpcServer({
    methods: {
      [SAY]: { kind: 'unary', handle: (call) => call.send(call.buffer, call.start, call.end) },
    },
  })
}

test('a unix socket is served and removed at the end', async (t) => {
  const path = join(await openFolder(t), 'socket')
  const server = createEcho()
  assert.deepEqual(await server.listen({ path }), { path })
  const client = openGrpcJsClient(t, `unix:${path}`)
  assert.equal((await callUnary(client, SAY, 'hi')).message, 'hi')
  await server.close()
  assert.equal(existsSync(path), false)
})

test('`await using` closes a server', async (t) => {
  const path = join(await openFolder(t), 'socket')
  {
    await using server = createEcho()
    await server.listen({ path })
    assert.equal(existsSync(path), true)
  }
  assert.equal(existsSync(path), false)
})

test('an unused socket file is replaced', async (t) => {
  const path = join(await openFolder(t), 'socket')
  // If the file of a listener is moved away and back, it is not removed on close.
  const dead = createServer().listen(path)
  await once(dead, 'listening')
  await rename(path, `${path}.kept`)
  dead.close()
  await rename(`${path}.kept`, path)
  const server = createEcho()
  await server.listen({ path })
  const client = openGrpcJsClient(t, `unix:${path}`)
  assert.equal((await callUnary(client, SAY, 'hi')).message, 'hi')
  await server.close()
})

test('a socket file in use, or another kind of file, is left alone', async (t) => {
  const folder = await openFolder(t)
  const path = join(folder, 'socket')
  const first = createEcho()
  t.after(() => first.close())
  await first.listen({ path })
  await assert.rejects(createEcho().listen({ path }), { code: 'EADDRINUSE' })
  const client = openGrpcJsClient(t, `unix:${path}`)
  assert.equal((await callUnary(client, SAY, 'hi')).message, 'hi')

  const file = join(folder, 'file')
  await writeFile(file, 'precious')
  await assert.rejects(createEcho().listen({ path: file }), { code: 'EADDRINUSE' })
  assert.equal(existsSync(file), true)
})

test('a port in use is an error', async (t) => {
  const { port } = await openEchoServer(t)
  await assert.rejects(createEcho().listen({ host: '127.0.0.1', port }), { code: 'EADDRINUSE' })
})

test('a socket accepted elsewhere is served', async (t) => {
  const { server } = await openEchoServer(t)
  const acceptor = createServer({ pauseOnConnect: true }, (socket) => server.adopt(socket))
  acceptor.listen(0, '127.0.0.1')
  await once(acceptor, 'listening')
  t.after(() => acceptor.close())
  const address = acceptor.address()
  assert.ok(address && typeof address === 'object')
  const client = openGrpcJsClient(t, address.port)
  assert.equal((await callUnary(client, SAY, 'adopted')).message, 'adopted')
  assert.equal(server.connections, 1)
})

test('a drain sends two GOAWAY frames, and loses no call', async (t) => {
  const { server, port, waiting } = await openEchoServer(t)
  using client = await RawClient.open(port)
  client.send(unaryCall(1, WAIT, 'a'))
  await until(() => waiting.length === 1)
  const drained = server.drain()

  assert.deepEqual(await client.goaway(), {
    lastId: MAX_STREAM_ID,
    code: errorCode.NO_ERROR,
    reason: '',
  })
  const ping = await client.nextOf(frameType.PING)
  assert.equal(ping.flags, 0)
  // In transit when the first GOAWAY was sent: it is served.
  client.send(unaryCall(3, SAY, 'b'), frame(frameType.PING, flag.ACK, 0, ping.payload))
  await client.headers(3)
  assert.equal((await client.headers(3))['grpc-status'], '0')
  assert.equal((await client.goaway()).lastId, 3)
  // Too late: the client has received the GOAWAY, and retries elsewhere.
  client.send(unaryCall(5, SAY, 'c'))

  waiting[0]?.send(Buffer.from('ok'), 0, 2)
  await client.headers(1)
  assert.equal((await client.headers(1))['grpc-status'], '0')
  await client.ended()
  await drained
  assert.ok(!client.frames.some(({ id }) => id === 5))
  assert.equal(server.connections, 0)
})

test('no connection is accepted after the drain has begun', async (t) => {
  const { server, port } = await openEchoServer(t)
  await server.drain()
  const socket = connect(port, '127.0.0.1')
  await assert.rejects(once(socket, 'connect'), { code: 'ECONNREFUSED' })
})

test('closing waits for calls up to graceMs', async (t) => {
  const { server, port, waiting } = await openEchoServer(t)
  using client = await RawClient.open(port)
  client.send(unaryCall(1, WAIT, 'a'))
  await until(() => waiting.length === 1)
  await server.close({ graceMs: 50 })
  await client.ended()
  assert.equal(waiting[0]?.isOpen, false)
  assert.equal(server.connections, 0)
})

test('a grpc-js client goes through a drain without an error', async (t) => {
  const first = await openEchoServer(t)
  const client = openGrpcJsClient(t, first.port)
  const pending = callUnary(client, WAIT, 'x')
  await until(() => first.waiting.length === 1)
  const drained = first.server.drain()
  setImmediate(() => first.waiting[0]?.send(Buffer.from('done'), 0, 4))
  assert.equal((await pending).message, 'done')
  await drained
})

test('a connection that reaches its maximum age is drained', async (t) => {
  const { port } = await openEchoServer(t, { maxConnectionAgeMs: 50 })
  using client = await RawClient.open(port)
  assert.equal((await client.goaway()).lastId, MAX_STREAM_ID)
  const ping = await client.nextOf(frameType.PING)
  client.send(frame(frameType.PING, flag.ACK, 0, ping.payload))
  assert.equal((await client.goaway()).lastId, 0)
  await client.ended()
})

test('a client that is slow to notice the end of its connection loses no call', async (t) => {
  const { port } = await openEchoServer(t, { maxConnectionAgeMs: 50 })
  using client = await RawClient.open(port)
  await client.goaway()
  const ping = await client.nextOf(frameType.PING)
  // The client pauses, as on a busy machine, and has not read any of that yet.
  await sleep(1_500)
  client.send(unaryCall(1, SAY, 'late'))
  assert.equal((await client.headers(1))[':status'], '200')
  client.send(frame(frameType.PING, flag.ACK, 0, ping.payload))
  assert.equal((await client.goaway()).lastId, 1)
})

test('an old connection with an endless call is closed after its grace period', async (t) => {
  const { port, waiting } = await openEchoServer(t, {
    // The call has to arrive before that, on a busy machine too.
    maxConnectionAgeMs: 1_500,
    maxConnectionAgeGraceMs: 200,
  })
  using client = await RawClient.open(port)
  client.send(unaryCall(1, WAIT, 'a'))
  await client.ended()
  await until(() => waiting[0]?.isOpen === false)
})

test('changes of the number of connections are reported, without draining connections', async (t) => {
  const counts: number[] = []
  const { port } = await openEchoServer(t, {
    maxConnectionAgeMs: 200,
    onConnections: (count) => {
      if (count !== counts.at(-1)) counts.push(count)
    },
  })
  const passing = await RawClient.open(port)
  passing[Symbol.dispose]()
  await until(() => counts.at(-1) === 0)
  using client = await RawClient.open(port)
  await client.goaway()
  await until(() => counts.at(-1) === 0)
  const ping = await client.nextOf(frameType.PING)
  client.send(frame(frameType.PING, flag.ACK, 0, ping.payload))
  await client.ended()
  assert.deepEqual(counts, [1, 0, 1, 0])
})
