import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { errorCode, flag, frameType, PREFACE, settingId } from '../../src/http2/frames.ts'
import { openEchoServer, until } from '../support/echo-server.ts'
import {
  frame,
  grpcMessage,
  headerBlock,
  RawClient,
  requestFields,
  settings,
  uint32,
  unaryCall,
} from '../support/raw-client.ts'

const SAY = '/test.Echo/Say'
const WAIT = '/test.Echo/Wait'

test('the server begins with SETTINGS, acknowledges ours and answers PING', async (t) => {
  const { port } = await openEchoServer(t)
  using client = await RawClient.open(port)
  client.send(frame(frameType.PING, 0, 0, Buffer.from('12345678')))
  const first = await client.next(() => true)
  assert.equal(first.type, frameType.SETTINGS)
  assert.equal(first.flags, 0)
  await client.next(({ type, flags }) => type === frameType.SETTINGS && flags === flag.ACK)
  const ping = await client.nextOf(frameType.PING)
  assert.equal(ping.flags, flag.ACK)
  assert.equal(ping.payload.toString(), '12345678')
})

test('a unary call is answered with headers, message and trailers', async (t) => {
  const { port } = await openEchoServer(t)
  using client = await RawClient.open(port)
  client.send(unaryCall(1, SAY, 'hello'))
  assert.deepEqual(await client.headers(1), {
    ':status': '200',
    'content-type': 'application/grpc',
  })
  const data = await client.nextOf(frameType.DATA, 1)
  assert.deepEqual(data.payload, grpcMessage('hello'))
  assert.deepEqual(await client.headers(1), { 'grpc-status': '0' })
})

test('a connection that sends continuously does not delay the others', async (t) => {
  const callsBefore: number[] = []
  let busyCalls = 0
  const { port } = await openEchoServer(t, {
    methods: {
      '/test.Turns/Busy': {
        kind: 'unary',
        handle(call) {
          busyCalls += 1
          call.send(Buffer.alloc(0), 0, 0)
        },
      },
      '/test.Turns/Quiet': {
        kind: 'unary',
        handle(call) {
          callsBefore.push(busyCalls)
          call.send(Buffer.alloc(0), 0, 0)
        },
      },
    },
  })
  using busy = await RawClient.open(port)
  using quiet = await RawClient.open(port)
  const isAcknowledged = ({ type, flags }: { type: number; flags: number }) =>
    type === frameType.SETTINGS && flags === flag.ACK
  await busy.next(isAcknowledged)
  await quiet.next(isAcknowledged)
  const message = 'x'.repeat(8_000)
  const calls = 60
  const ids = Array.from({ length: calls }, (_, index) => 2 * index + 1)
  busy.send(...ids.map((id) => unaryCall(id, '/test.Turns/Busy', message)))
  quiet.send(unaryCall(1, '/test.Turns/Quiet', ''))
  await quiet.headers(1)
  // A read returns at most 64 KiB, and the busy connection may be one read ahead.
  const [before = calls] = callsBefore
  assert.ok(before <= (2 * 65_536) / message.length, `after ${before} of ${calls} calls`)
  await until(() => busyCalls === calls)
})

test('a client that keeps sending after GOAWAY is no longer read', async (t) => {
  const { port } = await openEchoServer(t)
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  socket.on('error', () => {})
  socket.resume()
  const onIdleStream = frame(frameType.DATA, 0, 1, Buffer.alloc(16_384))
  // More than the socket buffers of both sides, and far less than can be sent until the connection ends.
  const most = 64 * 2 ** 20
  let sent = 0
  const sendAll = (error?: Error | null) => {
    if (error || sent >= most) {
      socket.destroy()
      return
    }
    sent += onIdleStream.length
    socket.write(onIdleStream, sendAll)
  }
  socket.write(Buffer.concat([PREFACE, settings()]), sendAll)
  await new Promise((resolve) => socket.on('close', resolve))
  assert.ok(sent < most, `${sent} bytes were read`)
})

test('all responses to one read are in order and sent in one write', async (t) => {
  const { port } = await openEchoServer(t)
  using client = await RawClient.open(port)
  await client.next(({ type, flags }) => type === frameType.SETTINGS && flags === flag.ACK)
  const chunks: Buffer[] = []
  client.socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const ids = Array.from({ length: 50 }, (_, index) => 2 * index + 1)
  client.send(...ids.map((id) => unaryCall(id, SAY, `message ${id}`)))
  for (const id of ids) {
    await client.headers(id)
    const { payload } = await client.nextOf(frameType.DATA, id)
    assert.equal(payload.toString('utf8', 5), `message ${id}`)
    assert.deepEqual(await client.headers(id), { 'grpc-status': '0' })
  }
  assert.equal(chunks.length, 1)
})

test('bytes that arrive one at a time make the same call', async (t) => {
  const { port } = await openEchoServer(t)
  using client = await RawClient.connect(port)
  client.socket.setNoDelay(true)
  for (const byte of Buffer.concat([PREFACE, settings(), unaryCall(1, SAY, 'slowly')])) {
    client.send(Buffer.from([byte]))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await client.headers(1)
  const { payload } = await client.nextOf(frameType.DATA, 1)
  assert.equal(payload.toString('utf8', 5), 'slowly')
})

test('padding, priority and CONTINUATION are understood', async (t) => {
  const { port } = await openEchoServer(t)
  using client = await RawClient.open(port)
  const block = headerBlock(requestFields(SAY))
  const pad = (payload: Buffer) => Buffer.concat([Buffer.from([3]), payload, Buffer.alloc(3)])
  const priority = Buffer.from([0, 0, 0, 0, 16])
  client.send(
    frame(
      frameType.HEADERS,
      flag.PADDED | flag.PRIORITY,
      1,
      pad(Buffer.concat([priority, block.subarray(0, 10)])),
    ),
    frame(frameType.CONTINUATION, 0, 1, block.subarray(10, 20)),
    frame(frameType.CONTINUATION, flag.END_HEADERS, 1, block.subarray(20)),
    frame(frameType.DATA, flag.PADDED, 1, pad(grpcMessage('padded').subarray(0, 7))),
    frame(frameType.DATA, flag.PADDED | flag.END_STREAM, 1, pad(grpcMessage('padded').subarray(7))),
  )
  await client.headers(1)
  const { payload } = await client.nextOf(frameType.DATA, 1)
  assert.equal(payload.toString('utf8', 5), 'padded')
})

test('trailers end a request, and a size update in them is applied', async (t) => {
  const { port } = await openEchoServer(t)
  using client = await RawClient.open(port)
  client.send(
    frame(frameType.HEADERS, flag.END_HEADERS, 1, headerBlock(requestFields(SAY))),
    frame(frameType.DATA, 0, 1, grpcMessage('with trailers')),
    frame(
      frameType.HEADERS,
      flag.END_HEADERS | flag.END_STREAM,
      1,
      Buffer.concat([Buffer.from([0x20]), headerBlock({ 'x-trailer': '1' })]),
    ),
  )
  await client.headers(1)
  const { payload } = await client.nextOf(frameType.DATA, 1)
  assert.equal(payload.toString('utf8', 5), 'with trailers')
})

test('a cached block is used only while the table is unchanged', async (t) => {
  const paths: string[] = []
  const { port } = await openEchoServer(t, {
    methods: {
      '/test.Echo/Tell': {
        kind: 'unary',
        handle(call) {
          paths.push(call.header('x-who') ?? '')
          call.send(call.buffer, call.start, call.end)
        },
      },
    },
  })
  using client = await RawClient.open(port)
  const common = headerBlock(requestFields('/test.Echo/Tell'))
  const indexed = (value: string) =>
    Buffer.concat([
      common,
      Buffer.from([0x40, 5]),
      Buffer.from('x-who'),
      Buffer.from([value.length]),
      Buffer.from(value),
    ])
  const again = Buffer.concat([common, Buffer.from([0x80 | 62])])
  const blocks = [indexed('one'), again, again, indexed('two'), again, again]
  for (const [index, block] of blocks.entries()) {
    const id = 2 * index + 1
    client.send(
      frame(frameType.HEADERS, flag.END_HEADERS, id, block),
      frame(frameType.DATA, flag.END_STREAM, id, grpcMessage('x')),
    )
    await client.headers(id)
    await client.headers(id)
  }
  assert.deepEqual(paths, ['one', 'one', 'one', 'two', 'two', 'two'])
})

test('frames of unknown type and unknown settings are ignored', async (t) => {
  const { port } = await openEchoServer(t)
  using client = await RawClient.open(port, settings([0xff, 1]))
  client.send(frame(77, 0xff, 0, Buffer.alloc(20)), unaryCall(1, SAY, 'x'))
  assert.equal((await client.headers(1))[':status'], '200')
})

describe('flow control', () => {
  const text = 'abcdefghijklmnopqrstuvwxyz'

  test('a response is sent in the pieces that the stream window allows', async (t) => {
    const { port } = await openEchoServer(t)
    using client = await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 7]))
    client.send(unaryCall(1, SAY, text))
    const parts: Buffer[] = []
    const whole = grpcMessage(text)
    for (let got = 0; got < whole.length; ) {
      const { payload } = await client.nextOf(frameType.DATA, 1)
      assert.ok(payload.length <= 7)
      parts.push(payload)
      got += payload.length
      client.send(frame(frameType.WINDOW_UPDATE, 0, 1, uint32(7)))
    }
    assert.deepEqual(Buffer.concat(parts), whole)
    assert.equal((await client.headers(1))['grpc-status'], undefined)
    assert.equal((await client.headers(1))['grpc-status'], '0')
  })

  test('the connection window holds back calls that their own window would allow', async (t) => {
    const { port } = await openEchoServer(t)
    using client = await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 1 << 20]))
    const long = 'x'.repeat(40_000)
    client.send(...unaryInFrames(1, long), ...unaryInFrames(3, long))
    let got = 0
    while (got < 65_535) got += (await client.nextOf(frameType.DATA)).payload.length
    assert.equal(got, 65_535)
    client.send(frame(frameType.WINDOW_UPDATE, 0, 0, uint32(100_000)))
    while (got < 80_010) got += (await client.nextOf(frameType.DATA)).payload.length
    assert.equal(got, 80_010)
    await client.headers(1)
    await client.headers(3)
    assert.equal((await client.headers(1))['grpc-status'], '0')
    assert.equal((await client.headers(3))['grpc-status'], '0')
  })

  test('nothing is sent while a window is negative because of SETTINGS', async (t) => {
    const { port } = await openEchoServer(t)
    using client = await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 10]))
    client.send(unaryCall(1, SAY, text))
    assert.equal((await client.nextOf(frameType.DATA, 1)).payload.length, 10)
    client.send(
      settings([settingId.INITIAL_WINDOW_SIZE, 4]),
      frame(frameType.WINDOW_UPDATE, 0, 1, uint32(6)),
      frame(frameType.PING, 0, 0, Buffer.alloc(8)),
    )
    await client.nextOf(frameType.PING)
    assert.equal(client.frames.filter(({ type }) => type === frameType.DATA).length, 0)
    client.send(frame(frameType.WINDOW_UPDATE, 0, 1, uint32(3)))
    assert.equal((await client.nextOf(frameType.DATA, 1)).payload.length, 3)
  })

  test('the windows of a long upload are credited', async (t) => {
    const { port } = await openEchoServer(t)
    using client = await RawClient.open(port, settings([settingId.INITIAL_WINDOW_SIZE, 1 << 30]))
    client.send(frame(frameType.WINDOW_UPDATE, 0, 0, uint32(1 << 30)))
    const long = 'y'.repeat(3 * 2 ** 20)
    client.send(...unaryInFrames(1, long))
    const update = await client.nextOf(frameType.WINDOW_UPDATE, 1)
    assert.ok(update.payload.readUInt32BE() >= 2 ** 19)
    let got = 0
    while (got < long.length + 5) got += (await client.nextOf(frameType.DATA, 1)).payload.length
    assert.equal(got, long.length + 5)
  })
})

function unaryInFrames(id: number, text: string): Buffer[] {
  const message = grpcMessage(text)
  const frames = [frame(frameType.HEADERS, flag.END_HEADERS, id, headerBlock(requestFields(SAY)))]
  for (let at = 0; at < message.length; at += 16_384) {
    const flags = at + 16_384 >= message.length ? flag.END_STREAM : 0
    frames.push(frame(frameType.DATA, flags, id, message.subarray(at, at + 16_384)))
  }
  return frames
}

describe('connection errors end the connection with their code', () => {
  const id31 = uint32(2 ** 31 - 1)
  const cases: Readonly<Record<string, [frames: Buffer, code: number]>> = {
    'DATA on stream 0': [frame(frameType.DATA, 0, 0), errorCode.PROTOCOL_ERROR],
    'DATA on an idle stream': [frame(frameType.DATA, 0, 5), errorCode.PROTOCOL_ERROR],
    'HEADERS on an even stream': [
      frame(frameType.HEADERS, flag.END_HEADERS, 2, headerBlock(requestFields(SAY))),
      errorCode.PROTOCOL_ERROR,
    ],
    PUSH_PROMISE: [frame(frameType.PUSH_PROMISE, 4, 1, id31), errorCode.PROTOCOL_ERROR],
    'CONTINUATION without HEADERS': [frame(frameType.CONTINUATION, 4, 1), errorCode.PROTOCOL_ERROR],
    'PING of 7 bytes': [frame(frameType.PING, 0, 0, Buffer.alloc(7)), errorCode.FRAME_SIZE_ERROR],
    'a window over its maximum': [
      frame(frameType.WINDOW_UPDATE, 0, 0, id31),
      errorCode.FLOW_CONTROL_ERROR,
    ],
    'an initial window over its maximum': [
      settings([settingId.INITIAL_WINDOW_SIZE, 2 ** 31]),
      errorCode.FLOW_CONTROL_ERROR,
    ],
    'a broken header block': [
      frame(frameType.HEADERS, flag.END_HEADERS, 1, Buffer.from([0x80])),
      errorCode.COMPRESSION_ERROR,
    ],
  }
  for (const [what, [frames, code]] of Object.entries(cases)) {
    test(what, async (t) => {
      const { port } = await openEchoServer(t)
      using client = await RawClient.open(port)
      client.send(frames)
      assert.equal((await client.goaway()).code, code)
      await client.ended()
    })
  }

  test('a first frame that is not SETTINGS', async (t) => {
    const { port } = await openEchoServer(t)
    using client = await RawClient.open(port, frame(frameType.PING, 0, 0, Buffer.alloc(8)))
    assert.equal((await client.goaway()).code, errorCode.PROTOCOL_ERROR)
  })

  test('another protocol', async (t) => {
    const { port } = await openEchoServer(t)
    using client = await RawClient.connect(port)
    client.send(Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n'))
    assert.equal((await client.goaway()).code, errorCode.PROTOCOL_ERROR)
    await client.ended()
  })
})

describe('stream errors do not end the connection', () => {
  const malformed: Readonly<Record<string, Record<string, string>>> = {
    'a name in upper case': { ...requestFields(SAY), 'X-Up': '1' },
    'a connection-specific field': { ...requestFields(SAY), connection: 'close' },
    'te other than trailers': { ...requestFields(SAY), te: 'gzip' },
    'a value with a line feed': { ...requestFields(SAY), x: 'a\nb' },
    'a missing path': { ':method': 'POST', ':scheme': 'http' },
    'a pseudo-header after other fields': { x: '1', ...requestFields(SAY) },
    'a content-length that is not a number': { ...requestFields(SAY), 'content-length': 'x' },
  }
  for (const [what, fields] of Object.entries(malformed)) {
    test(what, async (t) => {
      const { port } = await openEchoServer(t)
      using client = await RawClient.open(port)
      client.send(frame(frameType.HEADERS, flag.END_HEADERS, 1, headerBlock(fields)))
      const reset = await client.nextOf(frameType.RST_STREAM, 1)
      assert.equal(reset.payload.readUInt32BE(), errorCode.PROTOCOL_ERROR)
      client.send(unaryCall(3, SAY, 'still here'))
      assert.equal((await client.headers(3))[':status'], '200')
    })
  }

  test('a body that contradicts content-length', async (t) => {
    const { port } = await openEchoServer(t)
    using client = await RawClient.open(port)
    const fields = { ...requestFields(SAY), 'content-length': '4' }
    client.send(
      frame(frameType.HEADERS, flag.END_HEADERS, 1, headerBlock(fields)),
      frame(frameType.DATA, flag.END_STREAM, 1, grpcMessage('x')),
    )
    const reset = await client.nextOf(frameType.RST_STREAM, 1)
    assert.equal(reset.payload.readUInt32BE(), errorCode.PROTOCOL_ERROR)
  })

  test('calls beyond the concurrency limit are refused, and accepted later', async (t) => {
    const { port, waiting } = await openEchoServer(t, { limits: { concurrentStreams: 2 } })
    using client = await RawClient.open(port)
    client.send(unaryCall(1, WAIT, 'a'), unaryCall(3, WAIT, 'b'), unaryCall(5, WAIT, 'c'))
    const reset = await client.nextOf(frameType.RST_STREAM, 5)
    assert.equal(reset.payload.readUInt32BE(), errorCode.REFUSED_STREAM)
    assert.equal(waiting.length, 2)
    waiting[0]?.send(Buffer.from('ok'), 0, 2)
    await client.headers(1)
    client.send(unaryCall(7, SAY, 'd'))
    await client.headers(1)
    assert.equal((await client.headers(7))[':status'], '200')
  })
})

test('a cancelled call is no longer open, and answering it does nothing', async (t) => {
  const { port, waiting } = await openEchoServer(t)
  using client = await RawClient.open(port)
  client.send(unaryCall(1, WAIT, 'a'))
  await until(() => waiting.length === 1)
  const [call] = waiting
  assert.equal(call?.isOpen, true)
  client.send(frame(frameType.RST_STREAM, 0, 1, uint32(errorCode.CANCEL)))
  await until(() => call?.isOpen === false)
  call?.send(Buffer.from('late'), 0, 4)
  client.send(unaryCall(3, SAY, 'x'))
  await client.headers(3)
  assert.ok(!client.frames.some(({ id }) => id === 1))
})

test('a lost connection closes its calls', async (t) => {
  const { server, port, waiting } = await openEchoServer(t)
  using client = await RawClient.open(port)
  client.send(unaryCall(1, WAIT, 'a'))
  await until(() => waiting.length === 1)
  assert.equal(server.connections, 1)
  client.socket.destroy()
  await until(() => waiting[0]?.isOpen === false)
  await until(() => server.connections === 0)
})
