import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type Body, type BodyLimits, RequestBodies } from '../../src/transports/request-bodies.ts'

/** A server that answers with the length of the body, or why there is none. */
async function openExample(t: TestContext, limits: BodyLimits) {
  const bodies = new RequestBodies(limits)
  const results: Body[] = []
  const server = createServer((request, response) => {
    bodies.read(request, (body) => {
      results.push(body)
      response.end(typeof body === 'string' ? body : `${body.length}`)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  return { server, port: (server.address() as AddressInfo).port, results }
}

const head = (length: number) => `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`

/** Sends the beginning of a request, and waits until the server has read all of it. */
async function begin(server: Server, port: number, length: number, sent: number): Promise<Socket> {
  const arrived = once(server, 'request')
  const socket = connect(port, '127.0.0.1')
  socket.write(head(length))
  const [request] = await arrived
  if (sent > 0) {
    let left = sent
    const isRead = new Promise<void>((resolve) => {
      request.on('data', (chunk: Buffer) => {
        left -= chunk.length
        if (left === 0) resolve()
      })
    })
    socket.write('x'.repeat(sent))
    await isRead
  }
  return socket
}

async function readAnswer(socket: Socket): Promise<string> {
  const [bytes] = await once(socket, 'data')
  return String(bytes).split('\r\n\r\n')[1] ?? ''
}

test('incomplete bodies take bounded memory: the largest are dropped, the others can be completed', async (t) => {
  const { server, port, results } = await openExample(t, { bytes: 1_000, totalBytes: 2_500 })
  const small = await begin(server, port, 200, 100)
  const large = [
    await begin(server, port, 1_000, 700),
    await begin(server, port, 1_000, 800),
    await begin(server, port, 1_000, 600),
  ]
  assert.deepEqual(results, [])
  const last = await begin(server, port, 1_000, 500)
  // Of 2,700 bytes, at most 1,875 are kept.
  assert.deepEqual(results, ['too many', 'too many'])
  assert.equal(await readAnswer(large[1] as Socket), 'too many')
  assert.equal(await readAnswer(large[0] as Socket), 'too many')

  const answers = [small, large[2] as Socket, last].map(readAnswer)
  small.write('x'.repeat(100))
  large[2]?.write('x'.repeat(400))
  last.write('x'.repeat(500))
  assert.deepEqual(await Promise.all(answers), ['200', '1000', '1000'])
  for (const socket of [small, last, ...large]) socket.destroy()
})

test('bodies that are complete or abandoned make room for others', async (t) => {
  const { server, port, results } = await openExample(t, { bytes: 1_000, totalBytes: 1_000 })
  for (let round = 1; round <= 5; round += 1) {
    const complete = await begin(server, port, 400, 0)
    const answer = readAnswer(complete)
    complete.write('x'.repeat(400))
    assert.equal(await answer, '400')
    const abandoned = await begin(server, port, 1_000, 900)
    const closed = once(abandoned, 'close')
    abandoned.destroy()
    await closed
    complete.destroy()
    // The server notices the end of the connection a moment later.
    while (results.length < 2 * round) await new Promise(setImmediate)
  }
  assert.deepEqual(
    new Set(results.filter((each) => typeof each === 'string')),
    new Set(['aborted']),
  )
})
