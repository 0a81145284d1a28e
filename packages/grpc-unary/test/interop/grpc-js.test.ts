import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Client, compressionAlgorithms, credentials, Metadata } from '@grpc/grpc-js'
import type { Methods, StreamCall, UnaryCall } from '../../src/index.ts'
import { status } from '../../src/status.ts'
import { openAuthority } from '../support/certificates.ts'
import { openEchoServer, until } from '../support/echo-server.ts'
import { callUnary, openGrpcJsClient, openStream } from '../support/grpc-js-client.ts'

// The official client for Node, on nghttp2: it sends the end of a request as a separate frame.

const SAY = '/test.Echo/Say'
const LATER = '/test.Echo/Later'
const WAIT = '/test.Echo/Wait'

function headerMethod(seen: Map<string, string | undefined>): Methods {
  return {
    '/test.Echo/Headers': {
      kind: 'unary',
      handle(call: UnaryCall) {
        for (const name of seen.keys()) seen.set(name, call.header(name))
        call.send(call.buffer, call.start, call.end)
      },
    },
  }
}

test('messages of every size are returned unchanged', async (t) => {
  const { port } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  for (const size of [0, 1, 16_378, 16_379, 16_380, 65_530, 70_000, 2 ** 20, 4 * 2 ** 20]) {
    const text = 'x'.repeat(size)
    assert.equal((await callUnary(client, SAY, text)).message, text)
    assert.equal((await callUnary(client, LATER, text)).message, text)
  }
})

test('a message over 4 MiB is refused with RESOURCE_EXHAUSTED', async (t) => {
  const { port } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  const { error } = await callUnary(client, SAY, 'x'.repeat(4 * 2 ** 20 + 1))
  assert.equal(error?.code, status.RESOURCE_EXHAUSTED)
  assert.equal((await callUnary(client, SAY, 'goes on')).message, 'goes on')
})

test('consecutive long responses are all read completely', async (t) => {
  const { port, server } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  const text = 'x'.repeat(4 * 2 ** 20)
  // Each causes about 250 WINDOW_UPDATE frames.
  for (let count = 0; count < 24; count++) {
    assert.equal((await callUnary(client, SAY, text)).message?.length, text.length)
  }
  assert.equal(server.connections, 1)
})

test('a thousand concurrent calls are all answered', async (t) => {
  const { port } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  const texts = Array.from({ length: 1000 }, (_, index) => `call ${index}`)
  const outcomes = await Promise.all(texts.map((text) => callUnary(client, LATER, text)))
  assert.deepEqual(
    outcomes.map(({ message }) => message),
    texts,
  )
})

test('a thousand calls of an unknown method all get UNIMPLEMENTED', async (t) => {
  const { port, server } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  await callUnary(client, SAY, 'connected')
  const calls = Array.from({ length: 1000 }, () => callUnary(client, '/test.Echo/Missing', 'x'))
  const codes = new Set((await Promise.all(calls)).map(({ error }) => error?.code))
  assert.deepEqual([...codes], [status.UNIMPLEMENTED])
  assert.equal((await callUnary(client, SAY, 'still here')).message, 'still here')
  assert.equal(server.connections, 1)
})

test('large requests do not count against the connection after they are handled', async (t) => {
  const { port, waiting } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  const calls = []
  for (let count = 1; count <= 8; count++) {
    calls.push(callUnary(client, WAIT, 'x'.repeat(3 * 2 ** 20)))
    await until(() => waiting.length === count)
  }
  for (const call of waiting) call.send(Buffer.from('ok'), 0, 2)
  for (const { message } of await Promise.all(calls)) assert.equal(message, 'ok')
})

test('metadata arrives, text and bytes', async (t) => {
  const seen = new Map<string, string | undefined>([
    ['x-text', ''],
    ['x-twice', ''],
    ['x-data-bin', ''],
    ['user-agent', ''],
  ])
  const { port } = await openEchoServer(t, { methods: headerMethod(seen) })
  const client = openGrpcJsClient(t, port)
  const metadata = new Metadata()
  metadata.add('x-text', 'some text, ~!@#$%^&*()')
  metadata.add('x-twice', 'one')
  metadata.add('x-twice', 'two')
  metadata.add('x-data-bin', Buffer.from([0, 1, 254, 255]))
  const { message } = await callUnary(client, '/test.Echo/Headers', 'x', { metadata })
  assert.equal(message, 'x')
  assert.equal(seen.get('x-text'), 'some text, ~!@#$%^&*()')
  assert.match(seen.get('x-twice') ?? '', /^one, ?two$/)
  assert.deepEqual(
    Buffer.from(seen.get('x-data-bin') ?? '', 'base64'),
    Buffer.from([0, 1, 254, 255]),
  )
  assert.match(seen.get('user-agent') ?? '', /grpc-node-js/)
})

test('metadata over the limit is refused, and the connection stays open', async (t) => {
  const { port } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  const metadata = new Metadata()
  for (let count = 0; count < 90; count++) metadata.add(`x-${count}`, 'v'.repeat(1000))
  const { error } = await callUnary(client, SAY, 'x', { metadata })
  assert.equal(error?.code, status.RESOURCE_EXHAUSTED)
  assert.equal((await callUnary(client, SAY, 'goes on')).message, 'goes on')
})

test('a deadline ends the call on both sides', async (t) => {
  const { port, waiting } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  // On a busy machine a call may have expired before it was sent.
  while (waiting.length === 0) {
    const { error } = await callUnary(client, WAIT, 'x', {
      options: { deadline: Date.now() + 100 },
    })
    assert.equal(error?.code, status.DEADLINE_EXCEEDED)
  }
  await until(() => waiting[0]?.isOpen === false)
  assert.equal((await callUnary(client, SAY, 'goes on')).message, 'goes on')
})

test('cancelled calls end on both sides, also many at a time', async (t) => {
  const { port, waiting } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  const cancels: (() => void)[] = []
  const calls = Array.from({ length: 100 }, () =>
    callUnary(client, WAIT, 'x', { started: (call) => cancels.push(() => call.cancel()) }),
  )
  await until(() => waiting.length === 100)
  for (const cancel of cancels) cancel()
  for (const { error } of await Promise.all(calls)) assert.equal(error?.code, status.CANCELLED)
  await until(() => waiting.every((call) => !call.isOpen))
  assert.equal((await callUnary(client, SAY, 'goes on')).message, 'goes on')
})

test('the message of a failed call arrives unchanged', async (t) => {
  const text = 'no: 100 % \u00e9\u{1f512}\nsecond line'
  const { port } = await openEchoServer(t, {
    methods: {
      '/test.Echo/Fail': { kind: 'unary', handle: (call) => call.fail(status.NOT_FOUND, text) },
    },
  })
  const client = openGrpcJsClient(t, port)
  const { error } = await callUnary(client, '/test.Echo/Fail', 'x')
  assert.equal(error?.code, status.NOT_FOUND)
  assert.equal(error?.details, text)
})

test('a compressed request is accepted', async (t) => {
  const { port } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  const gzip = { 'grpc.default_compression_algorithm': compressionAlgorithms.gzip }
  assert.equal((await callUnary(client, SAY, 'plain')).message, 'plain')
  const zipped = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), gzip)
  t.after(() => zipped.close())
  for (const length of [1000, 100_000]) {
    const { message } = await callUnary(zipped, SAY, 'x'.repeat(length))
    assert.equal(message, 'x'.repeat(length))
  }
})

describe('a server stream such as health Watch', () => {
  const SERVING = Buffer.from([8, 1])
  const NOT_SERVING = Buffer.from([8, 2])

  function watchMethod(watchers: Set<StreamCall>): Methods {
    return {
      '/grpc.health.v1.Health/Watch': {
        kind: 'stream',
        open: (call) => ({
          message() {
            watchers.add(call)
            call.send(SERVING)
          },
          cancel() {
            watchers.delete(call)
          },
        }),
      },
    }
  }

  test('sends every change until it is cancelled', async (t) => {
    const watchers = new Set<StreamCall>()
    const { port } = await openEchoServer(t, { methods: watchMethod(watchers) })
    const client = openGrpcJsClient(t, port)
    const streams = Array.from({ length: 20 }, () =>
      openStream(client, '/grpc.health.v1.Health/Watch'),
    )
    const got = streams.map((stream) => {
      const messages: Buffer[] = []
      stream.on('data', (message: Buffer) => messages.push(message))
      stream.on('error', () => {})
      stream.write(Buffer.alloc(0))
      return messages
    })
    await until(() => watchers.size === 20)
    for (const watcher of watchers) watcher.send(NOT_SERVING)
    for (const watcher of watchers) watcher.send(SERVING)
    await until(() => got.every(({ length }) => length === 3))
    for (const messages of got) assert.deepEqual(messages, [SERVING, NOT_SERVING, SERVING])
    for (const stream of streams) stream.cancel()
    await until(() => watchers.size === 0)
  })

  test('ends with the status that the server gives', async (t) => {
    const watchers = new Set<StreamCall>()
    const { port } = await openEchoServer(t, { methods: watchMethod(watchers) })
    const stream = openStream(openGrpcJsClient(t, port), '/grpc.health.v1.Health/Watch')
    stream.resume()
    stream.write(Buffer.alloc(0))
    await until(() => watchers.size === 1)
    const ended = new Promise<{ code: number; details: string }>((resolve) => {
      stream.on('error', () => {})
      stream.on('status', resolve)
    })
    for (const watcher of watchers) watcher.fail(status.UNAVAILABLE, 'going away')
    const { code, details } = await ended
    assert.equal(code, status.UNAVAILABLE)
    assert.equal(details, 'going away')
  })
})

test('all calls work over TLS as well', async (t) => {
  const authority = openAuthority()
  const { port } = await openEchoServer(t, { tls: authority.sign('localhost') })
  const secure = credentials.createSsl(Buffer.from(authority.ca))
  const client = openGrpcJsClient(t, `localhost:${port}`, secure)
  const texts = Array.from({ length: 200 }, (_, index) => 'y'.repeat(index * 37))
  texts.push('z'.repeat(4 * 2 ** 20))
  const outcomes = await Promise.all(texts.map((text) => callUnary(client, LATER, text)))
  assert.ok(outcomes.every(({ message }, index) => message === texts[index]))
})
