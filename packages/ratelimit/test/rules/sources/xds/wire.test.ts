import assert from 'node:assert/strict'
import { constants } from 'node:http2'
import { test } from 'node:test'
import { readMessages, toFrame } from '../../../../src/rules/sources/xds/discovery-stream.ts'
import { until } from '../../../support/file-source.ts'
import { openAdsServer, toResource, toResponse, toRules } from './support/ads-server.ts'
import { grpcHeaders, openHttp2Server } from './support/http2-server.ts'
import { openSource, type WatchedSource } from './support/xds-source.ts'

async function waitForLoss(source: WatchedSource, reason: RegExp): Promise<void> {
  const lost = /Failed to receive configuration from xDS Management Server: (.*)/
  const isLogged = () => source.lines.some((line) => reason.test(lost.exec(line)?.[1] ?? ''))
  await until(isLogged, `${reason} is logged`).catch((error: Error) => {
    throw new Error(`${error.message}; the log is:\n${source.lines.join('\n')}`)
  })
}

const good = toFrame(toResponse({ version: '1', nonce: '1', resources: [toRules(1)] }))

test('messages are joined however the bytes are split', async () => {
  const sent = [Buffer.from('first'), Buffer.alloc(0), Buffer.alloc(1_000, 7), Buffer.alloc(0)]
  const bytes = Buffer.concat(sent.map(toFrame))
  for (const size of [1, 2, 4, 5, 6, 9, 10, 11, 500, bytes.length]) {
    const chunks = async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    }
    const read: Buffer[] = []
    for await (const message of readMessages(chunks(), 1_000)) read.push(message)
    assert.deepEqual(read, sent, `in pieces of ${size}`)
  }
})

test('a message that is too long ends the stream, and the rules stay in force', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url, maxMessageBytes: 1_000 })
  const stream = await server.stream(1)
  stream.send({ version: '1', nonce: '1', resources: [toRules(1)] })
  await stream.request(2)
  const descriptors = Array.from({ length: 500 }, (_, index) => ({ key: `key-${index}` }))
  const resources = [toResource({ name: 'a', domain: 'd', descriptors })]
  stream.send({ version: '2', nonce: '2', resources })
  await waitForLoss(source, /a message of \d+ bytes, and XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES allows/)
  assert.equal((await (await server.stream(2)).request(1)).versionInfo, '1')
  assert.equal(source.requests(), 1)
})

test('an invalid response ends the stream', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  stream.sendBytes(Buffer.from([0x0a, 0xff, 0xff]))
  await waitForLoss(source, /cannot be decoded/)
  await server.stream(2)
  assert.equal(source.hasTried, false)
})

test('a stream that is reset in the middle of a message is replaced', async (t) => {
  const server = await openHttp2Server(t, (stream) => {
    stream.respond(grpcHeaders)
    stream.write(good)
    stream.write(good.subarray(0, 20))
    setTimeout(() => stream.destroy(new Error('on purpose')), 50)
  })
  const source = openSource(t, { serverUrl: server.url })
  await until(() => server.streams.length >= 3, 'it is opened again')
  await waitForLoss(source, /^the server reset the stream \(HTTP\/2 error code 2\)$/)
  assert.equal(source.requests(), 1)
})

test('a stream that ends in the middle of a message is logged and replaced', async (t) => {
  const server = await openHttp2Server(t, (stream) => {
    stream.respond(grpcHeaders)
    stream.end(good.subarray(0, 20))
  })
  const source = openSource(t, { serverUrl: server.url })
  await waitForLoss(source, /ended in the middle of a message/)
  assert.equal(source.hasTried, false)
})

test('a lost connection is logged with a reason', async (t) => {
  const server = await openHttp2Server(t, (stream) => {
    stream.respond(grpcHeaders)
    stream.write(good)
    setTimeout(() => server.sockets.at(-1)?.resetAndDestroy(), 50)
  })
  const source = openSource(t, { serverUrl: server.url })
  await waitForLoss(source, /ECONNRESET/)
  await until(() => server.streams.length >= 2, 'it is opened again')
})

test('a compressed message is refused', async (t) => {
  const compressed = Buffer.from(good)
  compressed[0] = 1
  const server = await openHttp2Server(t, (stream) => {
    stream.respond({ ...grpcHeaders, 'grpc-encoding': 'gzip' })
    stream.write(compressed)
  })
  const source = openSource(t, { serverUrl: server.url })
  await waitForLoss(source, /compressed/)
})

test('a response that is not gRPC is reported as such', async (t) => {
  const server = await openHttp2Server(t, (stream) => {
    stream.respond({ ':status': 404, 'content-type': 'text/html' })
    stream.end('<h1>Not found</h1>')
  })
  const source = openSource(t, { serverUrl: server.url })
  await waitForLoss(source, /HTTP status 404/)
})

test('a status without a message is reported', async (t) => {
  const server = await openHttp2Server(t, (stream) => {
    stream.respond({ ...grpcHeaders, 'grpc-status': '12' }, { endStream: true })
  })
  const source = openSource(t, { serverUrl: server.url })
  await waitForLoss(source, /^UNIMPLEMENTED$/)
})

test('a slow response is received completely', async (t) => {
  const server = await openHttp2Server(t, async (stream) => {
    stream.respond(grpcHeaders)
    for (let at = 0; at < good.length; at += 16) {
      stream.write(good.subarray(at, at + 16))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })
  const source = openSource(t, { serverUrl: server.url })
  await source.firstAttempt
  assert.equal(source.requests(), 1)
  assert.equal(server.streams.length, 1)
})

test('a server that rejects pings is pinged half as often', async (t) => {
  /** The times of the first ping of each connection. */
  const pingedAtMs: number[] = []
  const server = await openHttp2Server(t, (stream, session) => {
    stream.respond(grpcHeaders)
    const connection = server.streams.length - 1
    session.on('ping', () => {
      pingedAtMs[connection] ??= performance.now()
      const calm = constants.NGHTTP2_ENHANCE_YOUR_CALM
      if (connection === 0) session.goaway(calm, 0, Buffer.from('too_many_pings'))
    })
  })
  openSource(t, { serverUrl: server.url, keepaliveIntervalMs: 400 })
  await until(() => pingedAtMs.length === 2, 'it reconnects and keeps pinging')
  const [complainedAtMs = 0, nextAtMs = 0] = pingedAtMs
  // A busy machine can make it later, never sooner; one millisecond is lost in rounding.
  assert.ok(nextAtMs - complainedAtMs >= 798, `after ${nextAtMs - complainedAtMs} ms`)
})
