/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Stream, connect, constants, createSecureServer } from 'node:http2'
import { request } from 'node:https'
import { after, before, describe, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createHandler } from '../src/adapters/http2.ts'
import type { OpenHost } from './support/hosts/host.ts'
import { certificate } from './support/hosts/http2-host.ts'
import { hosts } from './support/hosts/index.ts'
import { closeServer, listen } from './support/hosts/listen.ts'
import { manyBytes, schema } from './support/hosts/schema.ts'
import { assertUnharmed } from './support/hosts/unharmed.ts'

const echo = Buffer.from(JSON.stringify({ query: `{ echo(text: "${manyBytes}") }` }))
const slow = Buffer.from(JSON.stringify({ query: '{ slow(ms: 50) }' }))

const departures: readonly [name: string, send: (stream: ClientHttp2Stream) => void][] = [
  ['before the body', () => {}],
  ['in the middle of the body', (stream) => void stream.write(slow.subarray(0, 9))],
  ['while the query runs', (stream) => void stream.end(slow)],
]

for (const host of hosts.filter(({ transport }) => transport === 'HTTP/2')) {
  describe(host.name, () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error) => void warnings.push(warning)
    let opened: OpenHost
    before(async () => {
      process.on('warning', onWarning)
      opened = await host.open()
    })
    after(() => opened.close())

    const post = (t: TestContext, path = '/graphql') => {
      const session = connect(opened.origin, { ca: certificate.cert })
      session.on('error', () => {})
      t.after(() => session.destroy())
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/json',
      })
      stream.on('error', () => {})
      return { session, stream }
    }

    test('a body sent byte by byte equals one sent at once', async (t) => {
      const { stream } = post(t)
      for (const byte of echo) {
        stream.write(Buffer.of(byte))
        await wait(1)
      }
      stream.end()
      const text = Buffer.concat(await stream.toArray()).toString()
      assert.deepEqual(JSON.parse(text), { data: { echo: manyBytes } })
    })

    for (const [name, send] of departures) {
      test(`a client that cancels the stream ${name} leaves nothing behind`, async (t) => {
        const { stream } = post(t)
        send(stream)
        await wait(20)
        stream.close(constants.NGHTTP2_CANCEL)
        await assertUnharmed(opened)
      })

      test(`a client that drops the connection ${name} leaves nothing behind`, async (t) => {
        const { session, stream } = post(t)
        send(stream)
        await wait(20)
        session.destroy()
        await assertUnharmed(opened)
      })
    }

    if (!host.limits?.readsBodyItself)
      test('an upload above the limit is answered, and ended before the whole body is received', async (t) => {
        const { session, stream } = post(t, '/limited')
        const response = once(stream, 'response')
        let sent = 0
        for (; !stream.closed && sent < 100_000_000; sent += 100_000) {
          stream.write(Buffer.alloc(100_000, ' '))
          while (stream.writableNeedDrain && !stream.closed) await wait(1)
        }
        const [headers] = await response
        assert.equal(headers[':status'], 413)
        assert.ok(sent < 100_000_000, 'everything was received')
        assert.equal(session.destroyed, false)
        await assertUnharmed(opened)
      })

    test('a client that cancels the stream aborts its query', async (t) => {
      const send = async (query: string) => {
        const { stream } = post(t, '/disconnect')
        stream.end(JSON.stringify({ query }))
        return JSON.parse(Buffer.concat(await stream.toArray()).toString())
      }
      const { stream } = post(t, '/disconnect')
      stream.end(JSON.stringify({ query: '{ wait }' }))
      assert.deepEqual(await send('{ running }'), { data: { running: 'running' } })
      stream.close(constants.NGHTTP2_CANCEL)
      const { data } = await send('{ aborted }')
      // graphql 16 does not pass a signal to `execute`.
      assert.match(data.aborted, /^context true, execute (true|undefined)$/)
      await assertUnharmed(opened)
    })

    test('the process emitted no warning', async () => {
      await wait(10)
      process.off('warning', onWarning)
      assert.deepEqual(warnings, [])
    })
  })
}

test('an HTTP/2 server with allowHTTP1 serves HTTP/1 clients too', async (t) => {
  const server = createSecureServer(
    { ...certificate, allowHTTP1: true },
    createHandler({ schema, bodyLimitBytes: 1000, vary: true }),
  )
  const port = await listen(server)
  t.after(() => closeServer(server))

  const send = async (body: Buffer) => {
    const req = request({
      host: 'localhost',
      port,
      ca: certificate.cert,
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json' },
    })
    req.end(body)
    const [response] = await once(req, 'response')
    return { response, text: Buffer.concat(await response.toArray()).toString() }
  }

  const { response, text } = await send(echo)
  assert.equal(response.httpVersion, '1.1')
  assert.equal(response.statusMessage, 'OK')
  assert.equal(response.headers['content-length'], String(Buffer.byteLength(text)))
  assert.equal(response.headers.vary, 'Accept')
  assert.deepEqual(JSON.parse(text), { data: { echo: manyBytes } })

  const refused = await send(Buffer.alloc(1001, ' '))
  assert.equal(refused.response.statusCode, 413)
})
