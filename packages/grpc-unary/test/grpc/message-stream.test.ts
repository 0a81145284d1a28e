import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { flag, frameType, settingId } from '../../src/http2/frames.ts'
import { type StreamCall, type StreamHandler, status } from '../../src/index.ts'
import { openEchoServer, until } from '../support/echo-server.ts'
import { finalStatus, openGrpcJsClient, openStream } from '../support/grpc-js-client.ts'
import {
  frame,
  grpcMessage,
  headerBlock,
  RawClient,
  requestFields,
  settings,
} from '../support/raw-client.ts'

const CHAT = '/test.Chat/Open'

/** A server with one stream method; `calls` are the opened calls. */
async function openChat(
  t: TestContext,
  toHandler: (call: StreamCall) => StreamHandler,
  limits = {},
) {
  const calls: StreamCall[] = []
  const { port, reported, server } = await openEchoServer(t, {
    limits,
    methods: {
      [CHAT]: {
        kind: 'stream',
        open(call) {
          calls.push(call)
          return toHandler(call)
        },
      },
    },
  })
  return { port, calls, reported, server }
}

test('messages are sent in both directions, and the handler ends the call', async (t) => {
  const { port } = await openChat(t, (call) => ({
    message: (message) => call.send(Buffer.from(message.toString().toUpperCase())),
    halfClose: () => call.end(),
  }))
  const stream = openStream(openGrpcJsClient(t, port), CHAT)
  const got: string[] = []
  stream.on('data', (message: Buffer) => got.push(message.toString()))
  for (const word of ['one', 'two', 'three']) stream.write(Buffer.from(word))
  stream.end()
  const final = await finalStatus(stream)
  assert.equal(final.code, status.OK)
  assert.deepEqual(got, ['ONE', 'TWO', 'THREE'])
})

test('a server stream continues after the caller half-closes, until it cancels', async (t) => {
  let cancelled = 0
  const { port, calls } = await openChat(t, (call) => ({
    message: () => call.send(Buffer.from('now')),
    cancel: () => {
      cancelled++
    },
  }))
  const stream = openStream(openGrpcJsClient(t, port), CHAT)
  stream.on('error', () => {})
  const got: string[] = []
  stream.on('data', (message: Buffer) => got.push(message.toString()))
  stream.end(Buffer.from('watch'))
  await until(() => got.length === 1)
  calls[0]?.send(Buffer.from('later'))
  await until(() => got.length === 2)
  assert.deepEqual(got, ['now', 'later'])
  stream.cancel()
  await until(() => cancelled === 1)
  assert.equal(calls[0]?.isOpen, false)
})

test('a stream fails before and after its first message', async (t) => {
  const { port } = await openChat(t, (call) => ({
    message(message) {
      if (message.toString() === 'talk first') call.send(Buffer.from('well'))
      call.fail(status.PERMISSION_DENIED, 'no more')
    },
  }))
  const client = openGrpcJsClient(t, port)
  for (const word of ['fail', 'talk first']) {
    const stream = openStream(client, CHAT)
    stream.on('data', () => {})
    stream.on('error', () => {})
    stream.write(Buffer.from(word))
    const final = await finalStatus(stream)
    assert.equal(final.code, status.PERMISSION_DENIED)
    assert.equal(final.details, 'no more')
  }
})

test('a handler that throws ends the call and is notified of its end', async (t) => {
  let cancelled = 0
  const { port, reported } = await openChat(t, () => ({
    message() {
      throw new Error('oops')
    },
    cancel: () => {
      cancelled++
    },
  }))
  const stream = openStream(openGrpcJsClient(t, port), CHAT)
  stream.on('data', () => {})
  stream.on('error', () => {})
  stream.write(Buffer.from('x'))
  const final = await finalStatus(stream)
  assert.equal(final.code, status.INTERNAL)
  assert.match(String(reported[0]), /oops/)
  assert.equal(cancelled, 1)
})

test('stream methods that reject end the call, and the process keeps running', async (t) => {
  const reject = async (): Promise<never> => {
    throw new Error('oops')
  }
  const handlers: Record<string, StreamHandler> = {
    message: { message: reject },
    halfClose: { message: () => {}, halfClose: reject },
  }
  let name = ''
  const { port, reported } = await openChat(t, () => handlers[name] as StreamHandler)
  for (name of Object.keys(handlers)) {
    const stream = openStream(openGrpcJsClient(t, port), CHAT)
    stream.on('data', () => {})
    stream.on('error', () => {})
    stream.end(Buffer.from('x'))
    assert.equal((await finalStatus(stream)).code, status.INTERNAL, name)
    assert.match(String(reported.pop()), /oops/, name)
  }
})

test('a stream whose open() is asynchronous fails with advice', async (t) => {
  // JavaScript can pass a value that the type forbids.
  const open: unknown = async () => ({ message() {} })
  const { port, reported } = await openChat(t, open as () => StreamHandler)
  const stream = openStream(openGrpcJsClient(t, port), CHAT)
  stream.on('data', () => {})
  stream.on('error', () => {})
  assert.equal((await finalStatus(stream)).code, status.INTERNAL)
  assert.match(String(reported[0]), /return the handler synchronously/)
})

test('a deadline ends a stream, and the handler is notified', async (t) => {
  let cancelled = 0
  const { port } = await openChat(t, () => ({
    message: () => {},
    cancel: () => {
      cancelled++
    },
  }))
  using client = await RawClient.open(port)
  const fields = { ...requestFields(CHAT), 'grpc-timeout': '20m' }
  client.send(frame(frameType.HEADERS, flag.END_HEADERS, 1, headerBlock(fields)))
  assert.equal((await client.headers(1))['grpc-status'], String(status.DEADLINE_EXCEEDED))
  assert.equal(cancelled, 1)
})

test('a message split into many frames arrives complete', async (t) => {
  const got: string[] = []
  const { port } = await openChat(t, () => ({
    message(message) {
      got.push(message.toString())
    },
  }))
  using client = await RawClient.open(port)
  const bytes = Buffer.concat([grpcMessage('first'), grpcMessage(''), grpcMessage('third')])
  client.send(
    frame(frameType.HEADERS, flag.END_HEADERS, 1, headerBlock(requestFields(CHAT))),
    ...Array.from(bytes, (byte) => frame(frameType.DATA, 0, 1, Buffer.from([byte]))),
  )
  await until(() => got.length === 3)
  assert.deepEqual(got, ['first', '', 'third'])
})

test('a stream that sends more than its caller reads is reset at the limit', async (t) => {
  let cancelled = 0
  const { port, calls } = await openChat(
    t,
    () => ({
      message: () => {},
      cancel: () => {
        cancelled++
      },
    }),
    { heldBackBytes: 1000 },
  )
  using client = await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 0]))
  client.send(frame(frameType.HEADERS, flag.END_HEADERS, 1, headerBlock(requestFields(CHAT))))
  await until(() => calls.length === 1)
  for (let i = 0; i < 9; i++) calls[0]?.send(Buffer.alloc(100))
  assert.equal(calls[0]?.isOpen, true)
  calls[0]?.send(Buffer.alloc(100))
  assert.equal(calls[0]?.isOpen, false)
  assert.equal(cancelled, 1)
  await client.nextOf(frameType.RST_STREAM, 1)
})
