import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type Transfer, WorkerProcess } from '../../src/workers/worker-process.ts'

const program = new URL('../support/echo-worker.ts', import.meta.url)

/** A worker that is ready, and the connections that were returned from it. */
async function openWorker(t: TestContext) {
  const ready = Promise.withResolvers<void>()
  const returned: Transfer[] = []
  let onReturned = () => {}
  const worker = new WorkerProcess({
    program,
    number: 1,
    start: {},
    logFd: 2,
    events: {
      onReady: ready.resolve,
      onReturned(transfers) {
        returned.push(...transfers)
        onReturned()
      },
      onMessage: () => {},
    },
  })
  t.after(async () => {
    worker.kill()
    await worker.ended
  })
  await ready.promise
  const nextReturn = () => new Promise<void>((resolve) => (onReturned = resolve))
  return { worker, returned, nextReturn }
}

/** Opens connections, and returns both ends of each. */
async function openConnections(t: TestContext) {
  const server = createServer({ pauseOnConnect: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return async (): Promise<{ client: Socket; transfer: Transfer }> => {
    const accepted = once(server, 'connection')
    const client = connect(address.port, '127.0.0.1')
    client.on('error', () => {})
    const [socket] = await accepted
    t.after(() => {
      client.destroy()
      socket.destroy()
    })
    return { client, transfer: { message: { kind: 'connection', listener: 'echo' }, socket } }
  }
}

async function readUntil(client: Socket, end: string): Promise<string> {
  let text = ''
  for await (const chunk of client.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk
    if (text.endsWith(end)) return text
  }
  return text
}

test('a connection counts once, from the moment it is handed over', async (t) => {
  const { worker } = await openWorker(t)
  const open = await openConnections(t)
  assert.equal(worker.countConnections(), 0)
  for (const expected of [1, 2]) {
    const { client, transfer } = await open()
    worker.hand(transfer)
    assert.deepEqual(
      [worker.countConnections('echo'), worker.countConnections()],
      [expected, expected],
    )
    client.write('hello')
    assert.equal(await readUntil(client, 'hello'), `${worker.pid} hello`)
    // The answer may arrive before the message that the connection was taken over.
    if (!transfer.socket.destroyed) await once(transfer.socket, 'close')
    assert.deepEqual(
      [worker.countConnections('echo'), worker.countConnections()],
      [expected, expected],
    )
    assert.equal(worker.countConnections('other'), 0)
  }
})

test('connections that were not sent to a stuck worker are returned, and all of them when it is killed', async (t) => {
  const { worker, returned, nextReturn } = await openWorker(t)
  const open = await openConnections(t)
  const [first, second] = [await open(), await open()]
  process.kill(worker.pid, 'SIGSTOP')
  const waitingReturned = nextReturn()
  worker.hand(first.transfer)
  worker.hand(second.transfer)
  assert.equal(worker.countConnections('echo'), 2)
  assert.equal(worker.isResponsive, true)
  await waitingReturned
  assert.deepEqual(returned, [second.transfer])
  assert.equal(worker.countConnections('echo'), 1)
  assert.deepEqual([worker.isReady, worker.isResponsive], [true, false])

  worker.kill()
  await worker.ended
  assert.deepEqual(returned, [second.transfer, first.transfer])
  assert.equal(worker.countConnections('echo'), 0)
  assert.deepEqual([worker.isReady, worker.howEnded], [false, 'killed by SIGKILL'])
})

test('a worker that is killed with a connection in transit and unread messages returns the connection', async (t) => {
  const { worker, returned } = await openWorker(t)
  const open = await openConnections(t)
  const [first, second] = [await open(), await open()]
  worker.hand(first.transfer)
  await once(first.transfer.socket, 'close')
  // This process reads nothing meanwhile, so that it gets the worker's message and its end together.
  first.client.destroy()
  block(300)
  process.kill(worker.pid, 'SIGSTOP')
  worker.hand(second.transfer)
  worker.kill()
  block(300)
  await worker.ended
  assert.deepEqual(returned, [second.transfer])
  assert.equal(worker.countConnections(), 0)
})

/** Stops this process, but not the others. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test('a worker ignores signals, and ends when its primary stops it', async (t) => {
  const { worker } = await openWorker(t)
  const open = await openConnections(t)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(worker.pid, signal)
  const { client, transfer } = await open()
  worker.hand(transfer)
  client.write('hello')
  assert.equal(await readUntil(client, 'hello'), `${worker.pid} hello`)
  worker.stop('SIGINT')
  await worker.ended
  assert.deepEqual([worker.exitCode, worker.howEnded], [0, 'exit code 0'])
})
