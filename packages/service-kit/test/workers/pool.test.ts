import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { LogMessage } from '../../src/log.ts'
import type { Message } from '../../src/workers/messages.ts'
import { Pool } from '../../src/workers/pool.ts'
import { WorkerProcess } from '../../src/workers/worker-process.ts'
import type { Served } from '../support/echo-worker.ts'

const program = join(import.meta.dirname, '../support/echo-worker.ts')

class EchoWorker extends WorkerProcess<Message, Served> {
  last: Served | undefined

  countConnections(): number {
    return this.countUnseen('echo') + this.adoptedCount
  }

  protected take(message: Served): void {
    this.last = message
  }
}

function openPool(t: TestContext, start: { readonly fault?: string }) {
  const lines: string[] = []
  const { promise: replaced, resolve } = Promise.withResolvers<void>()
  const write = (level: string) => (message: LogMessage) => {
    lines.push(`${level}: ${String(message).replace(/pid \d+/, 'pid')}`)
    if (level === 'warning') resolve()
  }
  const pool = new Pool({
    size: 2,
    start: (number, events) => new EchoWorker({ program, number, start, logFd: 2, events }),
    log: { error: write('error'), warning: write('warning'), info: write('info') },
    onHopeless: (error) => lines.push(String(error)),
  })
  t.after(() => pool[Symbol.asyncDispose]())
  return { pool, lines, replaced }
}

test('a connection waits for workers, others are spread, no byte is lost, and a lost worker is replaced', async (t) => {
  const { pool, lines, replaced } = openPool(t, {})
  const door = createServer({ pauseOnConnect: true }, (socket) => pool.serve('echo', socket))
  door.listen(0, '127.0.0.1')
  await once(door, 'listening')
  t.after(() => door.close())
  const address = door.address()
  assert.ok(typeof address === 'object' && address !== null)
  const { port } = address
  const askWho = async (): Promise<number> => {
    const client = connect(port, '127.0.0.1')
    t.after(() => client.destroy())
    client.write('hello')
    let text = ''
    for await (const chunk of client.setEncoding('utf8')) {
      text += chunk
      if (text.endsWith('hello')) break
    }
    assert.match(text, /^\d+ hello$/)
    return Number.parseInt(text, 10)
  }

  const early = askWho()
  await pool.ready
  const asked = [await early, await askWho(), await askWho(), await askWho()]
  const [first, second] = pool.workers
  assert.ok(first && second)
  const expected = [first.pid, first.pid, second.pid, second.pid]
  assert.deepEqual(asked.sort(), expected.sort())
  assert.deepEqual([first.countConnections(), second.countConnections()], [2, 2])
  assert.deepEqual(lines.sort(), ['info: Worker 1 (pid) serves', 'info: Worker 2 (pid) serves'])

  process.kill(first.pid, 'SIGKILL')
  await replaced
  assert.deepEqual(lines.slice(2), [
    'error: Worker 1 (pid) was lost: killed by SIGKILL; another one takes its place',
    'warning: Worker 1 (pid) serves',
  ])
  assert.equal(await askWho(), pool.workers[0]?.pid)

  const remaining = pool.workers
  remaining[1]?.send({ kind: 'note' })
  await pool.stop('SIGTERM')
  assert.deepEqual(pool.workers, [])
  // The worker that was not killed had two of the first four, its replacement the fifth. What workers
  // report just before they end has arrived when the pool has stopped.
  assert.deepEqual(
    remaining.map(({ last }) => last),
    [
      { kind: 'served', connections: 1, heard: 0 },
      { kind: 'served', connections: 2, heard: 1 },
    ],
  )
})

test('a pool whose workers cannot start says why, as the first of them does', async (t) => {
  const { pool, lines } = openPool(t, { fault: 'no luck' })
  await assert.rejects(pool.ready, { message: 'Error: no luck' })
  assert.deepEqual(lines, [])
})
