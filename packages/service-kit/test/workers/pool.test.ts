import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { LogMessage } from '../../src/log/log.ts'
import type { Message } from '../../src/workers/messages.ts'
import { Pool } from '../../src/workers/pool.ts'
import type { EchoStart, Served } from '../support/echo-worker.ts'

const program = new URL('../support/echo-worker.ts', import.meta.url)

function openPool(t: TestContext, start: EchoStart) {
  const lines: string[] = []
  const { promise: replaced, resolve } = Promise.withResolvers<void>()
  const write = (level: string) => (message: LogMessage) => {
    lines.push(`${level}: ${String(message).replace(/pid \d+/, 'pid')}`)
    if (level === 'warning') resolve()
  }
  /** The last message of each worker that has ended, by its number. */
  const last = new Map<number, Served>()
  const ended: number[] = []
  const pool = new Pool<Message, Served>({
    program,
    size: 2,
    logFd: 2,
    toStart: () => start,
    onMessage: ({ number }, message) => last.set(number, message),
    onEnded: ({ number }) => ended.push(number),
    log: { error: write('error'), warning: write('warning'), info: write('info') },
    onPermanentFailure: (error) => lines.push(String(error)),
  })
  t.after(() => pool[Symbol.asyncDispose]())
  return { pool, lines, replaced, last, ended }
}

/**
 * Opens a port for the pool. The returned function connects, and finds out which worker serves the
 * connection.
 */
async function openPort(t: TestContext, pool: Pool<Message, Served>) {
  const server = createServer({ pauseOnConnect: true }, (socket) => pool.serve('echo', socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  const { port } = address
  return async (): Promise<{ readonly pid: number; readonly client: Socket }> => {
    const client = connect(port, '127.0.0.1')
    t.after(() => client.destroy())
    client.on('error', () => {})
    client.write('hello')
    let text = ''
    for await (const chunk of client.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      text += chunk
      if (text.endsWith('hello')) break
    }
    assert.match(text, /^\d+ hello$/)
    return { pid: Number.parseInt(text, 10), client }
  }
}

test('a connection waits for workers, others are distributed, no byte is lost, and a lost worker is replaced', async (t) => {
  const { pool, lines, replaced, last, ended } = openPool(t, {})
  const open = await openPort(t, pool)
  const readPid = async () => (await open()).pid

  const early = readPid()
  await pool.ready
  const pids = [await early, await readPid(), await readPid(), await readPid()]
  const [first, second] = pool.workers
  assert.ok(first && second)
  const expected = [first.pid, first.pid, second.pid, second.pid]
  assert.deepEqual(pids.sort(), expected.sort())
  assert.deepEqual([first.countConnections(), second.countConnections()], [2, 2])
  assert.deepEqual(lines.sort(), ['info: Worker 1 (pid) is ready', 'info: Worker 2 (pid) is ready'])
  assert.deepEqual(ended, [])

  process.kill(first.pid, 'SIGKILL')
  await replaced
  assert.deepEqual(lines.slice(2), [
    'error: Worker 1 (pid) was lost: killed by SIGKILL; starting a replacement',
    'warning: Worker 1 (pid) is ready',
  ])
  assert.deepEqual(ended, [1])
  assert.equal(await readPid(), pool.workers[0]?.pid)

  pool.workers[1]?.send({ kind: 'note' })
  await pool.stop('SIGTERM')
  assert.deepEqual(pool.workers, [])
  assert.deepEqual(ended.slice(1).sort(), [1, 2])
  // The worker that was not killed had two of the first four connections, its replacement the
  // fifth. The reports that workers send just before they end have arrived when the pool has
  // stopped.
  assert.deepEqual(last.get(1), { kind: 'served', connections: 1, messages: 0 })
  assert.deepEqual(last.get(2), { kind: 'served', connections: 2, messages: 1 })
})

test('connections count until their worker reports them as closed, so that new ones go to the least busy worker', async (t) => {
  const { pool } = openPool(t, {})
  await pool.ready
  const open = await openPort(t, pool)
  const opened = [await open(), await open(), await open(), await open()]
  const [, second] = pool.workers
  assert.ok(second)
  for (const { pid, client } of opened) if (pid === second.pid) client.destroy()
  while (second.countConnections('echo') > 0) await new Promise(setImmediate)
  const next = [(await open()).pid, (await open()).pid]
  assert.deepEqual(next, [second.pid, second.pid])
})

test('a pool whose workers cannot start rejects with the reason of the first', async (t) => {
  const { pool, lines } = openPool(t, { fault: 'no luck' })
  await assert.rejects(pool.ready, { message: 'Error: no luck' })
  assert.deepEqual(lines, [])
})
