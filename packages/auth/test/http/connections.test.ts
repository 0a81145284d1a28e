import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, createServer as createDoor, type Server } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { trackConnections } from '../../src/http/connections.ts'
import { openConnection } from '../support/kept-connection.ts'

async function listen(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const bound = server.address()
  assert.ok(typeof bound === 'object' && bound !== null)
  return `http://127.0.0.1:${bound.port}`
}

/** Responds to `/slow` when `answer` is called, and to all other paths at once. */
function createSlowServer() {
  const requested = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<void>()
  const server = createServer(async ({ url }, response) => {
    if (url === '/slow') {
      requested.resolve()
      await answer.promise
    }
    response.end('done')
  })
  return { server, requested: requested.promise, answer: () => answer.resolve() }
}

const never = new AbortController().signal

test('a drain closes idle connections at once, and busy ones after a response with connection: close', async (t) => {
  const { server, requested, answer } = createSlowServer()
  const connections = trackConnections(server)
  const url = await listen(t, server)
  const [idle, busy] = [openConnection(t, url), openConnection(t, url)]
  assert.equal((await idle.send('/')).headers.connection, 'keep-alive')
  const slow = busy.send('/slow')
  await requested
  const drained = connections.drain(never)
  await idle.closed
  answer()
  const { body, headers } = await slow
  assert.deepEqual([body, headers.connection], ['done', 'close'])
  await Promise.all([busy.closed, drained])
})

test('the responses in progress can be awaited, without those that start later', async (t) => {
  const { server, requested, answer } = createSlowServer()
  const connections = trackConnections(server)
  const url = await listen(t, server)
  await connections.settled()
  const slow = openConnection(t, url).send('/slow')
  await requested
  let isSettled = false
  const settled = connections.settled().then(() => {
    isSettled = true
  })
  await openConnection(t, url).send('/')
  assert.equal(isSettled, false)
  answer()
  await slow
  await settled
})

test('connections accepted by another process are served, counted and drained like others', async (t) => {
  const { server, requested, answer } = createSlowServer()
  let closed = 0
  const connections = trackConnections(server, () => {
    closed += 1
  })
  const door = createDoor((socket) => connections.adopt(socket))
  const url = await listen(t, door)
  const [first, second] = [openConnection(t, url), openConnection(t, url)]
  assert.equal((await first.send('/')).body, 'done')
  const slow = second.send('/slow')
  await requested
  const drained = connections.drain(never)
  await first.closed
  await assert.rejects(openConnection(t, url).send('/'))
  answer()
  assert.equal((await slow).body, 'done')
  await drained
  assert.equal(closed, 3)
})

test('a connection opened just before a drain still gets a response, and a silent one is closed', async (t) => {
  const { server } = createSlowServer()
  const connections = trackConnections(server)
  const url = await listen(t, server)
  let count = 0
  const accepted = new Promise<void>((resolve) => {
    server.on('connection', () => {
      count += 1
      if (count === 2) resolve()
    })
  })
  const sockets = [0, 1].map(() => connect(Number(new URL(url).port), '127.0.0.1'))
  await accepted
  const drained = connections.drain(never)
  const [active, silent] = sockets
  assert.ok(active && silent)
  active.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  // Block this process before it reads the request.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100)
  assert.match(await text(active), /^HTTP\/1.1 200 OK.*connection: close.*done/is)
  assert.equal(await text(silent), '')
  await drained
})

test('a drain ends when its signal is aborted', async (t) => {
  const { server, requested } = createSlowServer()
  const connections = trackConnections(server)
  const url = await listen(t, server)
  const lost = assert.rejects(openConnection(t, url).send('/slow'))
  await requested
  const expired = new AbortController()
  const drained = connections.drain(expired.signal)
  expired.abort()
  await Promise.all([drained, lost])
})
