/**
 * @legs main, oldest
 */
import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { readNodeBody } from '../src/adapters/shared/node-body.ts'
import { BodyError } from '../src/request.ts'

const unlimited = Number.POSITIVE_INFINITY

function openRequest(t: TestContext, headers: { [name: string]: string } = {}): IncomingMessage {
  const socket = new Socket()
  const request = new IncomingMessage(socket)
  request.headers = headers
  t.after(() => socket.destroy())
  return request
}

function send(request: IncomingMessage, ...chunks: (string | Buffer)[]): void {
  for (const chunk of chunks) request.push(chunk)
  request.push(null)
}

describe('a request body', () => {
  test('in one chunk is read unchanged', async (t) => {
    const request = openRequest(t)
    send(request, '{"query":"{ ☃ }"}')
    assert.equal(await readNodeBody(request, unlimited), '{"query":"{ ☃ }"}')
  })

  test('keeps characters that are split between chunks', async (t) => {
    const bytes = Buffer.from('ž ☃ 🏃')
    const request = openRequest(t)
    send(request, ...[...bytes].map((byte) => Buffer.of(byte)))
    assert.equal(await readNodeBody(request, unlimited), 'ž ☃ 🏃')
  })

  test('can be empty', async (t) => {
    const request = openRequest(t)
    send(request)
    assert.equal(await readNodeBody(request, unlimited), '')
  })

  test('is empty when other code has already waited for its end', async (t) => {
    const request = openRequest(t)
    send(request)
    request.resume()
    await turn()
    assert.equal(await readNodeBody(request, unlimited), '')
  })

  test('is read when other code has set an encoding', async (t) => {
    const request = openRequest(t)
    request.setEncoding('utf8')
    send(request, '☃', '☃')
    assert.equal(await readNodeBody(request, unlimited), '☃☃')
  })

  for (const [name, bytes] of [
    ['a stray byte', [0xff]],
    ['half a character at its end', [0x7b, 0xe2, 0x98]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['an overlong form', [0xc0, 0xaf]],
  ] as const) {
    test(`is refused with ${name}`, async (t) => {
      const request = openRequest(t)
      send(request, Buffer.from(bytes))
      await assert.rejects(readNodeBody(request, unlimited), /not valid UTF-8/)
    })
  }
})

describe('a client that disconnects', () => {
  test('ends the reading', async (t) => {
    const request = openRequest(t)
    const reading = readNodeBody(request, unlimited)
    request.push('{"que')
    await turn()
    request.destroy()
    await assert.rejects(reading, /aborted|disconnected/)
  })

  test('ends it with the error of the connection', async (t) => {
    const request = openRequest(t)
    const reading = readNodeBody(request, unlimited)
    request.destroy(new Error('the cable is cut'))
    await assert.rejects(reading, /the cable is cut/)
  })

  test('ends it even when it has disconnected before', async (t) => {
    const request = openRequest(t)
    request.destroy()
    await turn()
    await assert.rejects(readNodeBody(request, unlimited), /disconnected/)
  })
})

describe('a limit', () => {
  const is413 = (error: unknown) => error instanceof BodyError && error.response[1].status === 413

  test('allows a body of exactly that size', async (t) => {
    const request = openRequest(t, { 'content-length': '6' })
    send(request, '☃', '☃')
    assert.equal(await readNodeBody(request, 6), '☃☃')
  })

  test('counts bytes, not characters', async (t) => {
    const request = openRequest(t)
    send(request, '☃', '☃')
    await assert.rejects(readNodeBody(request, 5), is413)
  })

  test('refuses a declared length before anything has arrived', async (t) => {
    const request = openRequest(t, { 'content-length': '7' })
    await assert.rejects(readNodeBody(request, 6), is413)
  })

  test('of zero refuses every body but an empty one', async (t) => {
    const empty = openRequest(t, { 'content-length': '0' })
    send(empty)
    assert.equal(await readNodeBody(empty, 0), '')
    const full = openRequest(t)
    send(full, 'x')
    await assert.rejects(readNodeBody(full, 0), is413)
  })

  test('keeps receiving for a while, so that the client can read the response', async (t) => {
    const request = openRequest(t)
    const reading = readNodeBody(request, 10)
    const megabyte = Buffer.alloc(1024 * 1024)
    const received = async (count: number) => {
      for (let sent = 0; sent < count; sent++) {
        request.push(megabyte)
        await turn()
      }
    }
    request.push(megabyte)
    await assert.rejects(reading, is413)
    await received(16)
    assert.equal(request.destroyed, false)
    assert.equal(request.readableLength, 0)
    await received(1)
    assert.equal(request.destroyed, true)
  })
})

test('a body that other code has read is reported, with the fix', async (t) => {
  const log = t.mock.method(console, 'error', () => {})
  const request = openRequest(t)
  send(request, '{"query":"{ hello }"}')
  for await (const _chunk of request) {
    // Read by middleware.
  }
  await assert.rejects(readNodeBody(request, unlimited), (error) => {
    assert.ok(error instanceof BodyError)
    assert.deepEqual(error.response, [null, { status: 500, statusText: 'Internal Server Error' }])
    return true
  })
  assert.equal(log.mock.callCount(), 1)
  const [, error] = log.mock.calls[0]?.arguments ?? []
  assert.match(
    String(error),
    /was already read .* mount the GraphQL handler before the body parser/,
  )
})
