import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { errorCode, flag, frameType, settingId } from '../src/http2/frames.ts'
import type { Limits } from '../src/index.ts'
import { openEchoServer, until } from './support/echo-server.ts'
import {
  frame,
  grpcMessage,
  headerBlock,
  RawClient,
  requestFields,
  settings,
  uint32,
  unaryCall,
} from './support/raw-client.ts'

const SAY = '/test.Echo/Say'
const WAIT = '/test.Echo/Wait'

const request = frame(frameType.HEADERS, flag.END_HEADERS, 1, headerBlock(requestFields(WAIT)))
/** The prefix of a message that is longer than the server accepts. */
const tooLong = frame(frameType.DATA, 0, 1, Buffer.from([0, 0x7f, 0xff, 0xff, 0xff]))

/** Frames with a limit of ten per second, and how to create them. */
const floods: Readonly<
  Partial<Record<keyof Limits, { first?: Buffer; each: (n: number) => Buffer }>>
> = {
  settingsPerSecond: { each: () => settings() },
  pingsPerSecond: { each: () => frame(frameType.PING, 0, 0, Buffer.alloc(8)) },
  prioritiesPerSecond: { each: () => frame(frameType.PRIORITY, 0, 5, Buffer.alloc(5)) },
  windowUpdatesPerSecond: { each: () => frame(frameType.WINDOW_UPDATE, 0, 0, uint32(1)) },
  strayFramesPerSecond: { each: () => frame(99, 0, 0) },
  emptyDataPerSecond: { first: request, each: () => frame(frameType.DATA, 0, 1) },
  discardedBytesPerSecond: {
    first: Buffer.concat([request, tooLong]),
    each: () => frame(frameType.DATA, 0, 1, Buffer.alloc(100)),
  },
  resetsPerSecond: {
    each: (n) =>
      Buffer.concat([
        unaryCall(2 * n + 1, WAIT, 'x'),
        frame(frameType.RST_STREAM, 0, 2 * n + 1, uint32(errorCode.CANCEL)),
      ]),
  },
  streamErrorsPerSecond: {
    each: (n) =>
      frame(frameType.HEADERS, flag.END_HEADERS, 2 * n + 1, headerBlock({ 'X-BAD': '1' })),
  },
}

describe('a flood ends the connection and names its limit', () => {
  for (const [name, { first, each }] of Object.entries(floods)) {
    test(name, async (t) => {
      const { port } = await openEchoServer(t, { limits: { [name]: 10 } })
      using client = await RawClient.open(port)
      client.send(...(first ? [first] : []), ...Array.from({ length: 60 }, (_, n) => each(n)))
      const { code, reason } = await client.goaway()
      assert.equal(code, errorCode.ENHANCE_YOUR_CALM)
      assert.match(reason, new RegExp(name))
      await client.ended()
    })
  }
})

for (const limits of [{ continuationFrames: 3 }, { headerBlockBytes: 2000 }]) {
  test(`an endless header block is stopped by ${Object.keys(limits)[0]}`, async (t) => {
    const { port } = await openEchoServer(t, { limits })
    using client = await RawClient.open(port)
    const piece = headerBlock({ 'x-long': 'x'.repeat(600) })
    client.send(
      frame(frameType.HEADERS, 0, 1, piece),
      ...Array.from({ length: 10 }, () => frame(frameType.CONTINUATION, 0, 1, piece)),
    )
    const { code, reason } = await client.goaway()
    assert.equal(code, errorCode.ENHANCE_YOUR_CALM)
    assert.match(reason, new RegExp(Object.keys(limits)[0] ?? ''))
  })
}

test('a header bomb is refused without being decoded', async (t) => {
  const { port } = await openEchoServer(t)
  using client = await RawClient.open(port)
  const value = 'v'.repeat(3000)
  const entry = headerBlock({ 'x-bomb': value })
  entry[0] = 0x40
  const bomb = (times: number): Buffer =>
    Buffer.concat([headerBlock(requestFields(SAY)), entry, Buffer.alloc(times, 0x80 | 62)])
  const end = flag.END_HEADERS | flag.END_STREAM
  client.send(frame(frameType.HEADERS, end, 1, bomb(40)))
  assert.equal((await client.headers(1))[':status'], '431')
  client.send(frame(frameType.HEADERS, end, 3, bomb(12_000)))
  const { code, reason } = await client.goaway()
  assert.equal(code, errorCode.ENHANCE_YOUR_CALM)
  assert.match(reason, /headerListBytes/)
})

test('connections over the limit are closed', async (t) => {
  const { server, port } = await openEchoServer(t, { limits: { connections: 1 } })
  using first = await RawClient.open(port)
  await until(() => server.connections === 1)
  using second = await RawClient.connect(port)
  await second.ended()
  first.send(unaryCall(1, SAY, 'x'))
  assert.equal((await first.headers(1))[':status'], '200')
})

test('unfinished messages over the limit are refused', async (t) => {
  const { port } = await openEchoServer(t, { limits: { bufferedRequestBytes: 12_000 } })
  using client = await RawClient.open(port)
  const begin = Buffer.concat([Buffer.from([0, 0, 1, 0, 0]), Buffer.alloc(3000)])
  for (const id of [1, 3, 5]) {
    client.send(
      frame(frameType.HEADERS, flag.END_HEADERS, id, headerBlock(requestFields(SAY))),
      frame(frameType.DATA, 0, id, begin),
    )
  }
  assert.equal((await client.headers(5))['grpc-status'], '8')
})

test('calls and streams whose messages never arrive count, however small they are', async (t) => {
  const { port } = await openEchoServer(t, { limits: { bufferedRequestBytes: 3_000 } })
  for (const path of [WAIT, '/test.Echo/Stream']) {
    using client = await RawClient.open(port)
    const block = headerBlock(requestFields(path))
    client.send(...[1, 3, 5].map((id) => frame(frameType.HEADERS, flag.END_HEADERS, id, block)))
    const { 'grpc-status': code, 'grpc-message': message } = await client.headers(5)
    assert.deepEqual([code, message], ['8', 'too many unfinished messages on a connection'])
  }
})

describe('a stalled connection is closed', () => {
  test('without a preface', async (t) => {
    const { server, port } = await openEchoServer(t, { limits: { prefaceTimeoutMs: 40 } })
    using client = await RawClient.connect(port)
    await client.ended()
    await until(() => server.connections === 0)
  })

  test('inside a frame', async (t) => {
    const { port } = await openEchoServer(t, { limits: { frameTimeoutMs: 40 } })
    using client = await RawClient.open(port)
    client.send(unaryCall(1, SAY, 'x').subarray(0, 20))
    assert.equal((await client.goaway()).code, errorCode.ENHANCE_YOUR_CALM)
  })

  test('inside a header block', async (t) => {
    const { port } = await openEchoServer(t, { limits: { frameTimeoutMs: 40 } })
    using client = await RawClient.open(port)
    client.send(frame(frameType.HEADERS, 0, 1, Buffer.from([0x82])))
    assert.equal((await client.goaway()).code, errorCode.ENHANCE_YOUR_CALM)
  })

  test('with a window that never opens', async (t) => {
    const { port } = await openEchoServer(t, { limits: { heldBackTimeoutMs: 40 } })
    using client = await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 0]))
    client.send(unaryCall(1, SAY, 'x'))
    const { code, reason } = await client.goaway()
    assert.equal(code, errorCode.ENHANCE_YOUR_CALM)
    assert.match(reason, /heldBackTimeoutMs/)
  })

  test('without an acknowledgement of our PING', async (t) => {
    const { port } = await openEchoServer(t, {
      limits: { keepaliveMs: 40, keepaliveTimeoutMs: 40 },
    })
    using client = await RawClient.open(port)
    assert.equal((await client.nextOf(frameType.PING)).flags, 0)
    await client.ended()
  })

  test('but not when it acknowledges our PING', async (t) => {
    const { port } = await openEchoServer(t, {
      limits: { keepaliveMs: 40, keepaliveTimeoutMs: 120_000 },
    })
    using client = await RawClient.open(port)
    for (let i = 0; i < 3; i++) {
      const { payload } = await client.nextOf(frameType.PING)
      client.send(frame(frameType.PING, flag.ACK, 0, payload))
    }
    client.send(unaryCall(1, SAY, 'x'))
    assert.equal((await client.headers(1))[':status'], '200')
  })

  test('with an unfinished unary request', async (t) => {
    const { port } = await openEchoServer(t, { limits: { requestTimeoutMs: 40 } })
    using client = await RawClient.open(port)
    client.send(request)
    assert.equal((await client.headers(1))['grpc-status'], '1')
  })
})

test('a peer that does not read is not read from, and is disconnected', async (t) => {
  let handled = 0
  const { server, port } = await openEchoServer(t, {
    limits: { unsentBytes: 100_000, unsentTimeoutMs: 300 },
    methods: {
      [SAY]: {
        kind: 'unary',
        handle(call) {
          handled++
          call.send(call.buffer, call.start, call.end)
        },
      },
    },
  })
  using client = await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 2 ** 31 - 1]))
  client.send(frame(frameType.WINDOW_UPDATE, 0, 0, uint32(2 ** 30)))
  client.socket.pause()
  const block = headerBlock(requestFields(SAY))
  const message = grpcMessage('x'.repeat(16_000))
  for (let id = 1; id < 8000; id += 2) {
    client.send(
      frame(frameType.HEADERS, flag.END_HEADERS, id, block),
      frame(frameType.DATA, flag.END_STREAM, id, message),
    )
  }
  await until(() => server.connections === 0)
  assert.ok(handled > 0 && handled < 4000, `${handled} of 4000 calls were read`)
})

test('a peer that reads late receives everything', async (t) => {
  const { port } = await openEchoServer(t, { limits: { unsentBytes: 50_000 } })
  using client = await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 2 ** 31 - 1]))
  client.send(frame(frameType.WINDOW_UPDATE, 0, 0, uint32(2 ** 30)))
  client.socket.pause()
  const text = 'x'.repeat(16_000)
  const ids = Array.from({ length: 1000 }, (_, index) => 2 * index + 1)
  client.send(...ids.map((id) => unaryCall(id, SAY, text)))
  setTimeout(() => client.socket.resume(), 100)
  let bytes = 0
  while (bytes < ids.length * 16_005) bytes += (await client.nextOf(frameType.DATA)).payload.length
  assert.equal(bytes, ids.length * 16_005)
})
