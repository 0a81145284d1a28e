import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../src/log/log.ts'
import { openLifecycle } from '../../src/process/lifecycle.ts'
import { startWorkers } from '../../src/workers/primary.ts'

/** Two echo workers, and the lifecycle that stops them. */
function openPrimary(t: TestContext) {
  const log = createLog({ level: 'panic', format: 'text', write: () => {} })
  const process = { on: () => {}, off: () => {}, exit: () => {} }
  const lifecycle = openLifecycle({ log, process, drainDelayMs: 0, drainTimeoutMs: 60_000 })
  const workers = startWorkers({
    program: new URL('../support/echo-worker.ts', import.meta.url),
    size: 2,
    logFd: 2,
    toStart: () => ({}),
    onMessage: () => {},
    log,
    lifecycle,
  })
  t.after(async () => {
    lifecycle.stop('SIGINT')
    await lifecycle.ended
  })
  return { workers, lifecycle }
}

async function bind(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  return address.port
}

/** Whether a worker answers; otherwise the connection was closed. */
async function open(t: TestContext, port: number): Promise<{ client: Socket; isServed: boolean }> {
  const client = connect(port, '127.0.0.1')
  t.after(() => client.destroy())
  const answered = once(client, 'data').then(() => true)
  const closed = once(client, 'close').then(() => false)
  const isServed = await Promise.race([answered, closed])
  return { client, isServed }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

test('the limit per address applies over all workers, and a closed connection makes room', async (t) => {
  const { workers } = openPrimary(t)
  await workers.ready()
  const port = await workers.listen({
    listener: 'echo',
    bind,
    connectionsPerAddress: 3,
    onError: assert.ifError,
  })
  const openServed = async (): Promise<Socket> => {
    const { client, isServed } = await open(t, port)
    assert.ok(isServed)
    return client
  }
  const clients = [await openServed(), await openServed(), await openServed()]
  assert.equal((await open(t, port)).isServed, false)
  const counts = () => workers.running.map((worker) => worker.countAddress('127.0.0.1'))
  const untilSum = async (expected: number) => {
    while (sum(counts()) !== expected) await new Promise(setImmediate)
  }
  await untilSum(3)
  assert.ok(counts().every((count) => count < 3))
  clients[1]?.destroy()
  await untilSum(2)
  await openServed()
})

test('a stop closes the port and ends the workers', async (t) => {
  const { workers, lifecycle } = openPrimary(t)
  await workers.ready()
  const port = await workers.listen({ listener: 'echo', bind, onError: assert.ifError })
  assert.equal((await open(t, port)).isServed, true)
  const { running } = workers
  lifecycle.stop('SIGTERM')
  assert.equal(await lifecycle.ended, 0)
  assert.deepEqual(workers.running, [])
  assert.deepEqual(
    running.map(({ howEnded }) => howEnded),
    ['exit code 0', 'exit code 0'],
  )
  await assert.rejects(open(t, port), { code: 'ECONNREFUSED' })
})

test('workers that are stopped during their start do not become ready', async (t) => {
  const { workers, lifecycle } = openPrimary(t)
  const ready = workers.ready()
  lifecycle.stop('SIGTERM')
  await assert.rejects(ready)
  assert.equal(await lifecycle.ended, 0)
})
