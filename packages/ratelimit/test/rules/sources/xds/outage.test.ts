import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { findFreePort } from '@portcullis/test-servers'
import { letEventsPass, until } from '../../../support/file-source.ts'
import { openAdsServer, toRules } from './support/ads-server.ts'
import { openTcpProxy } from './support/tcp-proxy.ts'
import { openSource } from './support/xds-source.ts'

const lost = 'error Failed to receive configuration from xDS Management Server: '

test('the source retries until the server can be reached', async (t) => {
  const port = await findFreePort()
  const source = openSource(t, { serverUrl: `127.0.0.1:${port}` })
  await until(
    () => source.lines.filter((line) => line.includes('ECONNREFUSED')).length > 2,
    'tries',
  )
  assert.equal(source.hasTried, false)
  const errors = source.lines.filter((line) => line.startsWith('error'))
  assert.equal(errors.length, 1, 'the same reason is logged as an error once')
  assert.ok(errors[0]?.startsWith(`${lost}127.0.0.1:${port} cannot be reached: `))

  const server = await openAdsServer(t, { port })
  const stream = await server.stream(1)
  stream.send({ version: '1', nonce: '1', resources: [toRules(1)] })
  await source.firstAttempt
  assert.equal(source.requests(), 1)
})

test('a name that does not resolve is reported as an unreachable server', async (t) => {
  const source = openSource(t, { serverUrl: 'no-such-host.invalid:18000' })
  await until(() => source.lines.some((line) => line.includes('cannot be reached')), 'it is logged')
  assert.equal(source.hasTried, false)
  await source.close()
  await source.firstAttempt
})

test('when the server restarts, the rules stay in force and the version is requested again', async (t) => {
  const first = await openAdsServer(t)
  const source = openSource(t, { serverUrl: first.url })
  const before = await first.stream(1)
  before.send({ version: 'v7', nonce: 'old', resources: [toRules(7)] })
  await before.request(2)
  first.close()
  await until(() => source.lines.some((line) => line.startsWith(lost)), 'the loss is logged')
  assert.equal(source.requests(), 7)

  const second = await openAdsServer(t, { port: first.port })
  const after = await second.stream(1)
  const request = await after.request(1)
  assert.equal(request.versionInfo, 'v7')
  assert.equal(request.responseNonce, '')
  assert.equal(request.node?.id, 'default')
  assert.equal(source.requests(), 7)
  assert.equal(source.snapshots.length, 1)
  after.send({ version: 'v8', nonce: 'new', resources: [toRules(8)] })
  await after.request(2)
  assert.equal(source.requests(), 8)
  assert.deepEqual(source.failures, [])
})

test('a stream that the server ends is replaced on a new connection', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const first = await server.stream(1)
  first.send({ version: '1', nonce: '1', resources: [toRules(1)] })
  await first.request(2)
  first.end()
  const second = await server.stream(2)
  assert.equal((await second.request(1)).versionInfo, '1')
  assert.ok(source.lines.includes(`${lost}the server ended the stream`))
  second.fail(16, 'who are you? é')
  await server.stream(3)
  assert.ok(source.lines.includes(`${lost}UNAUTHENTICATED: who are you? é`))
  assert.equal(source.requests(), 1)
})

test('the time between retries doubles without a response, and is reset after one', async (t) => {
  const opened: number[] = []
  const server = await openAdsServer(t, {
    onStream(stream) {
      opened.push(performance.now())
      if (opened.length === 5) stream.send({ version: '1', nonce: '1', resources: [toRules(1)] })
      stream.fail(14, 'not now')
    },
  })
  // A stream that lasts longer than the longest wait also resets it, which must not happen on a busy machine.
  const backoff = { initialMs: 250, maxMs: 1_000, randomFactor: 0 }
  openSource(t, { serverUrl: server.url, backoff })
  await server.stream(7)
  const waits = opened.slice(1).map((atMs, index) => atMs - (opened[index] ?? 0))
  // A busy machine can make a wait longer, never shorter; one millisecond is lost in rounding. Which of the
  // last two is the short one depends on whether the response was processed before the failure of the stream.
  for (const [index, leastMs] of [250, 500, 1_000, 1_000, 250, 250].entries()) {
    assert.ok((waits[index] ?? 0) >= leastMs - 2, `wait ${index}: ${waits[index]} ms`)
  }
})

test('a server that hangs is detected by an unanswered ping', async (t) => {
  const server = await openAdsServer(t)
  const proxy = await openTcpProxy(t, server.port)
  const source = openSource(t, {
    serverUrl: proxy.url,
    keepaliveIntervalMs: 100,
    keepaliveTimeoutMs: 4_000,
  })
  const stream = await server.stream(1)
  stream.send({ version: '1', nonce: '1', resources: [toRules(1)] })
  await stream.request(2)
  await letEventsPass()
  assert.equal(server.streams.length, 1, 'answered pings keep the connection')
  proxy.freeze()
  const logged = `${lost}the server did not answer a ping within 4000 ms`
  await until(() => source.lines.includes(logged), 'the loss is logged')
  assert.equal(source.requests(), 1)
  proxy.thaw()
  assert.equal((await (await server.stream(2)).request(1)).versionInfo, '1')
})

test('a server that never answers blocks nothing, and closing does not wait for it', async (t) => {
  const server = await openAdsServer(t)
  const source = openSource(t, { serverUrl: server.url })
  const stream = await server.stream(1)
  await stream.request(1)
  await letEventsPass()
  assert.equal(source.hasTried, false)
  assert.equal(server.streams.length, 1)
  await source.close()
  assert.equal(source.hasTried, true)
})

test('closing while the server cannot be reached ends the first attempt', async (t) => {
  const source = openSource(t, {
    serverUrl: `127.0.0.1:${await findFreePort()}`,
    connectRetryMs: 3_600_000,
  })
  await until(() => source.lines.length > 0, 'the first attempt failed')
  await source.close()
  await source.firstAttempt
  assert.equal(source.hasTried, true)
})

test('a TLS handshake that is never answered times out', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => {}))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const tls = { certPath: undefined, keyPath: undefined, caPath: undefined, serverName: undefined }
  const source = openSource(t, { serverUrl: `127.0.0.1:${port}`, tls, connectTimeoutMs: 100 })
  const logged = `${lost}127.0.0.1:${port} cannot be reached: no connection within 100 ms`
  await until(() => source.lines.includes(logged), 'it is logged')
  await source.close()
})
