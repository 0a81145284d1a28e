import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import test from 'node:test'
import { listenOn } from '../contenders/listen.ts'
import { lengthOfResponse } from '../response-length.ts'
import { runSlice } from '../slice.ts'

test('the length of a response is known once it is complete', () => {
  const responses = [
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nb\r\n, my\r\nworld\r\n0\r\n\r\n',
  ]
  for (const text of responses) {
    const whole = Buffer.from(text)
    assert.equal(lengthOfResponse(Buffer.concat([whole, whole])), whole.length)
    for (let length = 0; length < whole.length; length++) {
      assert.equal(lengthOfResponse(whole.subarray(0, length)), 0)
    }
  }
})

test('a slice counts exactly the requests that the server has answered', async (t) => {
  let answered = 0
  // The slice ends after a fixed time, so the test ends it once there are enough requests to count.
  const connections = 3
  let nowMs = 0
  t.mock.method(performance, 'now', () => nowMs)
  const server = createServer((req, res) => {
    req.resume().on('end', () => {
      answered++
      if (answered > 10 * connections) nowMs = 1_000
      // Chunked, in two pieces of different size: the hardest case for the parser.
      res.write('{"data":')
      setImmediate(() => res.end('null}'))
    })
  })
  t.after(() => server.close())
  const port = await listenOn(server)
  const outcome = await runSlice({ port, body: '{}', connections, seconds: 1 })
  assert.ok(outcome.requests > 10 * connections)
  assert.equal(outcome.requests, answered)
})

test('a slice fails when the server responds with an error', async (t) => {
  const server = createServer((_req, res) => res.writeHead(500).end())
  t.after(() => server.close())
  const port = await listenOn(server)
  await assert.rejects(
    runSlice({ port, body: '{}', connections: 1, seconds: 1 }),
    /failed under load: it responded with HTTP\/1\.1 500/,
  )
})
