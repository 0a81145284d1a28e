import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type ClientUnaryCall, Metadata } from '@grpc/grpc-js'
import { openGrpcClient } from '../../src/client.ts'
import { errorCode, flag, frameType, settingId } from '../../src/http2/frames.ts'
import { status } from '../../src/index.ts'
import { openEchoServer, until } from '../support/echo-server.ts'
import { callUnary, openGrpcJsClient } from '../support/grpc-js-client.ts'
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

test('calls are answered immediately, later, and many at a time', async (t) => {
  const { port } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  const texts = Array.from({ length: 300 }, (_, index) => `message ${index} ${'x'.repeat(index)}`)
  const outcomes = await Promise.all(
    texts.map((text, index) => callUnary(client, index % 2 ? SAY : '/test.Echo/Later', text)),
  )
  assert.deepEqual(
    outcomes.map(({ message }) => message),
    texts,
  )
})

test('an empty message is a message', async (t) => {
  const { port } = await openEchoServer(t)
  const { error, message } = await callUnary(openGrpcJsClient(t, port), SAY, '')
  assert.equal(error, null)
  assert.equal(message, '')
})

test('messages of megabytes are sent in both directions', async (t) => {
  const { port } = await openEchoServer(t)
  const text = 'z'.repeat(4 * 2 ** 20)
  const { error, message } = await callUnary(openGrpcJsClient(t, port), SAY, text)
  assert.equal(error, null)
  assert.ok(message === text)
})

test('consecutive long messages reuse the same memory', async (t) => {
  const memories = new Set<ArrayBufferLike>()
  const { port } = await openEchoServer(t, {
    methods: {
      '/test.Memory/Show': {
        kind: 'unary',
        handle(call) {
          memories.add(call.buffer.buffer)
          const sum = createHash('sha256').update(call.buffer.subarray(call.start, call.end))
          call.send(sum.digest(), 0, 32)
        },
      },
    },
  })
  const client = await openGrpcClient({ address: `127.0.0.1:${port}` })
  t.after(() => client.close())
  for (let at = 0; at < 5; at += 1) {
    const message = randomBytes(3 * 2 ** 20 + at)
    const { response } = await client.call('/test.Memory/Show', message, { deadlineMs: 60_000 })
    assert.deepEqual(response, createHash('sha256').update(message).digest())
  }
  assert.equal(memories.size, 1)
})

test('a message whose last frame contains a second one is refused', async (t) => {
  const { port } = await openEchoServer(t)
  using raw = await RawClient.open(port)
  const [first, second] = [grpcMessage('x'.repeat(9_000)), grpcMessage('second')]
  raw.send(
    frame(frameType.HEADERS, flag.END_HEADERS, 1, headerBlock(requestFields(SAY))),
    frame(frameType.DATA, 0, 1, first.subarray(0, 5_000)),
    frame(frameType.DATA, flag.END_STREAM, 1, Buffer.concat([first.subarray(5_000), second])),
  )
  const { 'grpc-status': code, 'grpc-message': text } = await raw.headers(1)
  assert.equal(code, `${status.INTERNAL}`)
  assert.match(text ?? '', /multiple request messages/)
})

test('a message over the limit is refused before it has arrived', async (t) => {
  const { port } = await openEchoServer(t)
  const text = 'z'.repeat(4 * 2 ** 20 + 1)
  const { error } = await callUnary(openGrpcJsClient(t, port), SAY, text)
  assert.equal(error?.code, status.RESOURCE_EXHAUSTED)
  assert.match(error?.details ?? '', /larger than max \(4194305 vs\. 4194304\)/)

  using raw = await RawClient.open(port)
  const prefix = Buffer.from([0, 0x7f, 0xff, 0xff, 0xff])
  raw.send(
    frame(frameType.HEADERS, flag.END_HEADERS, 1, headerBlock(requestFields(SAY))),
    frame(frameType.DATA, 0, 1, prefix),
  )
  assert.equal((await raw.headers(1))['grpc-status'], String(status.RESOURCE_EXHAUSTED))
})

test('a handler can refuse a long message by its beginning', async (t) => {
  const seen: number[] = []
  const { port, server } = await openEchoServer(t, {
    methods: {
      '/test.Bounds/Say': {
        kind: 'unary',
        canRefuse(buffer, start, end) {
          seen.push(end - start)
          return buffer.subarray(start, end).includes('!')
        },
        handle(call) {
          const isRefused = call.buffer.subarray(call.start, call.end).includes('!')
          if (isRefused) call.fail(status.INVALID_ARGUMENT, 'no "!" please')
          else call.send(call.buffer, call.end - 3, call.end)
        },
      },
    },
  })
  using raw = await RawClient.open(port)
  const open = (id: number) =>
    frame(frameType.HEADERS, flag.END_HEADERS, id, headerBlock(requestFields('/test.Bounds/Say')))
  const toFrames = (id: number, text: string) => {
    const message = grpcMessage(text)
    const count = Math.ceil(message.length / 16_384)
    return Array.from({ length: count }, (_, at) => {
      const part = message.subarray(at * 16_384, (at + 1) * 16_384)
      return frame(frameType.DATA, at === count - 1 ? flag.END_STREAM : 0, id, part)
    })
  }
  const [first = Buffer.alloc(0), ...rest] = toFrames(1, `!${'x'.repeat(500_000)}`)
  raw.send(open(1), first)
  const { 'grpc-status': code, 'grpc-message': text } = await raw.headers(1)
  assert.deepEqual([code, text], [`${status.INVALID_ARGUMENT}`, 'no "!" please'])
  assert.deepEqual(seen, [16_379])

  // The rest of the message is ignored, and later calls are not affected.
  raw.send(...rest, open(3), ...toFrames(3, `${'x'.repeat(500_000)}end`))
  const { payload } = await raw.nextOf(frameType.DATA, 3)
  assert.equal(payload.toString('latin1', 5), 'end')
  assert.deepEqual(seen.slice(1), [16_379, 65_531, 262_139])
  assert.equal(server.connections, 1)

  raw.send(open(5), ...toFrames(5, `${'x'.repeat(100_000)}!`))
  assert.equal((await raw.headers(5))['grpc-status'], `${status.INVALID_ARGUMENT}`)
})

test('unknown methods and unknown services have different messages', async (t) => {
  const { port } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  const method = await callUnary(client, '/test.Echo/Shout', 'x')
  assert.equal(method.error?.code, status.UNIMPLEMENTED)
  assert.equal(method.error?.details, 'unknown method Shout for service test.Echo')
  const service = await callUnary(client, '/test.Other/Say', 'x')
  assert.equal(service.error?.code, status.UNIMPLEMENTED)
  assert.equal(service.error?.details, 'unknown service test.Other')
})

test('a handler fails a call with any code and text', async (t) => {
  const { port } = await openEchoServer(t, {
    methods: {
      '/test.Echo/Fail': {
        kind: 'unary',
        handle: (call) => call.fail(status.NOT_FOUND, 'nichts für „100 %“\n'),
      },
    },
  })
  const { error } = await callUnary(openGrpcJsClient(t, port), '/test.Echo/Fail', 'x')
  assert.equal(error?.code, status.NOT_FOUND)
  assert.equal(error?.details, 'nichts für „100 %“\n')
})

for (const [verb, path] of [
  ['throws', '/test.Echo/Throw'],
  ['rejects with', '/test.Echo/Reject'],
] as const) {
  test(`an error that a handler ${verb} is reported, and the caller gets no details`, async (t) => {
    const { port, reported } = await openEchoServer(t)
    const client = openGrpcJsClient(t, port)
    const { error } = await callUnary(client, path, 'x')
    assert.equal(error?.code, status.INTERNAL)
    assert.equal(error?.details, 'internal error')
    assert.match(String(reported[0]), /a secret detail/)
    assert.equal((await callUnary(client, SAY, 'still here')).message, 'still here')
  })
}

test('a handler that rejects after it answered is reported, and the response is kept', async (t) => {
  const { port, reported } = await openEchoServer(t, {
    methods: {
      '/test.Echo/Both': {
        kind: 'unary',
        async handle(call) {
          call.send(call.buffer, call.start, call.end)
          throw new Error('too late')
        },
      },
    },
  })
  const { error, message } = await callUnary(openGrpcJsClient(t, port), '/test.Echo/Both', 'x')
  assert.equal(error, null)
  assert.equal(message, 'x')
  await until(() => reported.length > 0)
  assert.match(String(reported[0]), /too late/)
})

test('a handler reads request headers', async (t) => {
  const { port } = await openEchoServer(t, {
    methods: {
      '/test.Echo/Headers': {
        kind: 'unary',
        handle(call) {
          const text = Buffer.from(`${call.header('x-who')} ${call.header('x-none')}`)
          call.send(text, 0, text.length)
        },
      },
    },
  })
  const metadata = new Metadata()
  metadata.add('x-who', 'me')
  metadata.add('x-who', 'you')
  const client = openGrpcJsClient(t, port)
  const { message } = await callUnary(client, '/test.Echo/Headers', 'x', { metadata })
  assert.match(message ?? '', /^me, ?you undefined$/)
})

test('a deadline that passes ends the call on both sides', async (t) => {
  const { port, waiting } = await openEchoServer(t)
  const client = openGrpcJsClient(t, port)
  const before = performance.now()
  // On a busy machine a call may have expired before it was sent.
  while (waiting.length === 0) {
    const options = { deadline: Date.now() + 60 }
    const { error } = await callUnary(client, '/test.Echo/Wait', 'x', { options })
    assert.equal(error?.code, status.DEADLINE_EXCEEDED)
  }
  await until(() => waiting[0]?.isOpen === false)
  assert.ok((waiting[0]?.deadlineMs ?? 0) >= before)
})

test('the server itself answers a call whose deadline passed', async (t) => {
  const { port, waiting } = await openEchoServer(t)
  using client = await RawClient.open(port)
  for (const [index, timeout] of ['15m', '0m'].entries()) {
    const fields = { ...requestFields('/test.Echo/Wait'), 'grpc-timeout': timeout }
    const id = 2 * index + 1
    client.send(
      frame(frameType.HEADERS, flag.END_HEADERS, id, headerBlock(fields)),
      frame(frameType.DATA, flag.END_STREAM, id, grpcMessage('x')),
    )
    assert.equal((await client.headers(id))['grpc-status'], String(status.DEADLINE_EXCEEDED))
  }
  assert.equal(waiting.length, 1)
  assert.equal(waiting[0]?.isOpen, false)
})

test('a clock that is set forward ends neither calls nor connections', async (t) => {
  const { port, server, waiting } = await openEchoServer(t)
  using client = await RawClient.open(port)
  const fields = { ...requestFields('/test.Echo/Wait'), 'grpc-timeout': '30M' }
  client.send(
    frame(frameType.HEADERS, flag.END_HEADERS, 1, headerBlock(fields)),
    frame(frameType.DATA, flag.END_STREAM, 1, grpcMessage('x')),
  )
  await until(() => waiting.length === 1)
  const real = Date.now
  t.mock.method(Date, 'now', () => real() + 3_600_000)
  client.send(unaryCall(3, SAY, 'x'))
  await client.nextOf(frameType.DATA, 3)
  assert.equal(waiting[0]?.isOpen, true)
  assert.equal(server.connections, 1)
})

test('a call without a deadline has none', async (t) => {
  const { port, waiting } = await openEchoServer(t)
  void callUnary(openGrpcJsClient(t, port), '/test.Echo/Wait', 'x')
  await until(() => waiting.length === 1)
  assert.equal(waiting[0]?.deadlineMs, Number.POSITIVE_INFINITY)
})

test('a cancelled call is closed', async (t) => {
  const { port, waiting } = await openEchoServer(t)
  let call: ClientUnaryCall | undefined
  const outcome = callUnary(openGrpcJsClient(t, port), '/test.Echo/Wait', 'x', {
    started: (started) => {
      call = started
    },
  })
  await until(() => waiting.length === 1)
  call?.cancel()
  assert.equal((await outcome).error?.code, status.CANCELLED)
  await until(() => waiting[0]?.isOpen === false)
})

test('responses of one turn are sent in one write, whichever handler sent them', async (t) => {
  const { port, waiting } = await openEchoServer(t)
  using client = await RawClient.open(port)
  const ids = [1, 3, 5, 7, 9]
  client.send(
    ...ids.flatMap((id) => [
      frame(frameType.HEADERS, flag.END_HEADERS, id, headerBlock(requestFields('/test.Echo/Wait'))),
      frame(frameType.DATA, flag.END_STREAM, id, grpcMessage('x')),
    ]),
  )
  await until(() => waiting.length === ids.length)
  const chunks: Buffer[] = []
  client.socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  waiting[0]?.send(Buffer.from('sync'), 0, 4)
  for (const call of waiting.slice(1)) {
    void Promise.resolve().then(() => call.send(Buffer.from('promise'), 0, 7))
  }
  for (const id of ids) {
    await client.headers(id)
    await client.headers(id)
  }
  assert.equal(chunks.length, 1)
})

test('only the first response to a call is sent', async (t) => {
  const { port } = await openEchoServer(t, {
    methods: {
      '/test.Echo/Twice': {
        kind: 'unary',
        handle(call) {
          call.send(Buffer.from('first'), 0, 5)
          call.send(Buffer.from('second'), 0, 6)
          call.fail(status.ABORTED, 'third')
        },
      },
    },
  })
  const client = openGrpcJsClient(t, port)
  assert.equal((await callUnary(client, '/test.Echo/Twice', 'x')).message, 'first')
  assert.equal((await callUnary(client, SAY, 'next')).message, 'next')
})

/** Sends the DATA frames of one call, the last of which ends it, and returns the status. */
async function statusOf(
  port: number,
  frames: readonly Buffer[],
  fields: Readonly<Record<string, string>> = {},
): Promise<Readonly<Record<string, string>>> {
  using client = await RawClient.open(port)
  client.send(
    frame(
      frameType.HEADERS,
      flag.END_HEADERS,
      1,
      headerBlock({ ...requestFields(SAY), ...fields }),
    ),
    ...frames.map((payload, index) =>
      frame(frameType.DATA, index === frames.length - 1 ? flag.END_STREAM : 0, 1, payload),
    ),
  )
  return await client.headers(1)
}

test('a unary call has exactly one message', async (t) => {
  const { port } = await openEchoServer(t)
  const none = await statusOf(port, [Buffer.alloc(0)])
  assert.equal(none['grpc-status'], String(status.INTERNAL))
  assert.match(none['grpc-message'] ?? '', /received no request message/)
  const two = await statusOf(port, [Buffer.concat([grpcMessage('a'), grpcMessage('b')])])
  assert.equal(two['grpc-status'], String(status.INTERNAL))
  assert.match(two['grpc-message'] ?? '', /multiple request messages/)
  const half = await statusOf(port, [grpcMessage('abc').subarray(0, 6)])
  assert.equal(half['grpc-status'], String(status.INTERNAL))
  assert.match(half['grpc-message'] ?? '', /unexpected end/)
})

function compressedMessage(message: Uint8Array): Buffer {
  const compressed = grpcMessage(gzipSync(message))
  compressed[0] = 1
  return compressed
}

/** Replaces the declared length at the end of a gzip file by a short one. */
function misleading(compressed: Buffer): Buffer {
  compressed.writeUInt32LE(10, compressed.length - 4)
  return compressed
}

/** Splits bytes into DATA frames of at most 16 KB. */
function cut(bytes: Buffer): Buffer[] {
  const count = Math.ceil(bytes.length / 16_000)
  return Array.from({ length: count }, (_, n) => bytes.subarray(n * 16_000, (n + 1) * 16_000))
}

describe('a message compressed with gzip', () => {
  const gzip = { 'grpc-encoding': 'gzip' }
  /** Long, and almost incompressible. */
  const long = randomBytes(90_000)

  for (const [what, message] of Object.entries({
    short: Buffer.from('abc'),
    empty: Buffer.alloc(0),
    long,
    'short and long when decompressed': Buffer.alloc(1_000_000, 'a'),
  })) {
    for (const lastFrame of [[], [Buffer.alloc(0)]]) {
      const end = lastFrame.length === 0 ? 'with the last frame' : 'before the last frame'
      test(`${what}: the message is complete ${end}`, async (t) => {
        const { port } = await openEchoServer(t)
        using client = await RawClient.open(
          port,
          settings([settingId.INITIAL_WINDOW_SIZE, 2 ** 31 - 1]),
        )
        client.send(
          frame(frameType.WINDOW_UPDATE, 0, 0, uint32(2 ** 30)),
          frame(
            frameType.HEADERS,
            flag.END_HEADERS,
            1,
            headerBlock({ ...requestFields(SAY), ...gzip }),
          ),
          ...[...cut(compressedMessage(message)), ...lastFrame].map((payload, index, all) =>
            frame(frameType.DATA, index === all.length - 1 ? flag.END_STREAM : 0, 1, payload),
          ),
        )
        assert.equal((await client.headers(1))[':status'], '200')
        assert.equal((await client.headers(1))['grpc-status'], '0')
        const answer = client.frames.filter(({ type }) => type === frameType.DATA)
        const echoed = Buffer.concat(answer.map(({ payload }) => payload)).subarray(5)
        assert.ok(echoed.equals(message))
      })
    }
  }

  test('has the usual size limit after decompression', async (t) => {
    for (const messageBytes of [50_000, 2 ** 20]) {
      const { port } = await openEchoServer(t, { limits: { messageBytes } })
      const bomb = compressedMessage(Buffer.alloc(8 * 2 ** 20))
      const answer = await statusOf(port, cut(bomb), gzip)
      assert.equal(answer['grpc-status'], String(status.RESOURCE_EXHAUSTED))
      assert.match(answer['grpc-message'] ?? '', /after decompression larger than max/)
    }
  })

  const bombs: Readonly<Record<string, Buffer>> = {
    'that declare their length': compressedMessage(Buffer.alloc(4 * 2 ** 20)),
    'that declare a short length': misleading(compressedMessage(Buffer.alloc(4 * 2 ** 20))),
  }
  for (const [which, bytes] of Object.entries(bombs)) {
    test(`ends the connection when many expand to much more than their size, ${which}`, async (t) => {
      const { port } = await openEchoServer(t)
      using client = await RawClient.open(port)
      const bomb = cut(bytes)
      for (let id = 1; id < 40; id += 2) {
        const block = headerBlock({ ...requestFields(SAY), ...gzip })
        client.send(
          frame(frameType.HEADERS, flag.END_HEADERS, id, block),
          ...bomb.map((payload, index) =>
            frame(frameType.DATA, index === bomb.length - 1 ? flag.END_STREAM : 0, id, payload),
          ),
        )
      }
      const { code, reason } = await client.goaway()
      assert.equal(code, errorCode.ENHANCE_YOUR_CALM)
      assert.match(reason, /decompressedBytesPerSecond/)
    })
  }

  test('must be the only one of its call', async (t) => {
    const { port } = await openEchoServer(t)
    const message = compressedMessage(Buffer.alloc(100_000, 'a'))
    for (const second of [message, grpcMessage('b')]) {
      const answer = await statusOf(port, [Buffer.concat([message, second])], gzip)
      assert.match(answer['grpc-message'] ?? '', /multiple request messages/)
    }
  })

  test('is an error when it is corrupt', async (t) => {
    const { port } = await openEchoServer(t)
    const broken = grpcMessage('abc')
    broken[0] = 1
    const answer = await statusOf(port, [broken], gzip)
    assert.equal(answer['grpc-status'], String(status.INTERNAL))
    assert.match(answer['grpc-message'] ?? '', /failed to decompress/)
  })
})

test('a message in another compression is refused with the supported ones', async (t) => {
  const { port } = await openEchoServer(t)
  const compressed = grpcMessage('abc')
  compressed[0] = 1
  const known = await statusOf(port, [compressed], { 'grpc-encoding': 'snappy' })
  assert.equal(known['grpc-status'], String(status.UNIMPLEMENTED))
  assert.equal(known['grpc-accept-encoding'], 'identity,gzip')
  assert.match(known['grpc-message'] ?? '', /snappy/)
  const unnamed = await statusOf(port, [compressed])
  assert.equal(unnamed['grpc-status'], String(status.INTERNAL))
})

test('a malformed grpc-timeout is an error of the caller', async (t) => {
  const { port } = await openEchoServer(t)
  const answer = await statusOf(port, [grpcMessage('x')], { 'grpc-timeout': 'soon' })
  assert.equal(answer[':status'], '400')
  assert.equal(answer['grpc-status'], String(status.INTERNAL))
})

test('requests that are not gRPC get an HTTP response', async (t) => {
  const { port } = await openEchoServer(t)
  const json = await statusOf(port, [Buffer.from('{}')], { 'content-type': 'application/json' })
  assert.equal(json[':status'], '415')
  const get = await statusOf(port, [Buffer.alloc(0)], { ':method': 'GET' })
  assert.equal(get[':status'], '405')
  assert.equal(get.allow, 'POST')
  const proto = await statusOf(port, [grpcMessage('x')], {
    'content-type': 'application/grpc+proto',
  })
  assert.equal(proto[':status'], '200')
})

test('64 KiB of metadata are accepted', async (t) => {
  const { port } = await openEchoServer(t)
  using client = await RawClient.open(port)
  const block = headerBlock({ ...requestFields(SAY), 'x-long': 'x'.repeat(65_536) })
  const parts = cut(block)
  client.send(
    ...parts.map((part, index) =>
      frame(
        index === 0 ? frameType.HEADERS : frameType.CONTINUATION,
        index === parts.length - 1 ? flag.END_HEADERS : 0,
        1,
        part,
      ),
    ),
    frame(frameType.DATA, flag.END_STREAM, 1, grpcMessage('x')),
  )
  assert.equal((await client.headers(1))[':status'], '200')
})

test('too many header fields are refused, and the next call is not', async (t) => {
  const { port } = await openEchoServer(t, { limits: { headerListBytes: 16_384 } })
  using client = await RawClient.open(port)
  const fields = { ...requestFields(SAY), 'x-long': 'x'.repeat(16_300) }
  client.send(
    frame(frameType.HEADERS, 0, 1, headerBlock(fields).subarray(0, 16_000)),
    frame(frameType.CONTINUATION, flag.END_HEADERS, 1, headerBlock(fields).subarray(16_000)),
    frame(frameType.HEADERS, flag.END_HEADERS, 3, headerBlock(requestFields(SAY))),
    frame(frameType.DATA, flag.END_STREAM, 3, grpcMessage('x')),
  )
  assert.equal((await client.headers(1))[':status'], '431')
  assert.equal((await client.headers(3))[':status'], '200')
})
