/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import childProcess from 'node:child_process'
import { EventEmitter } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { parseConfig } from '../../src/config/config.ts'
import { listener } from '../../src/workers/messages.ts'
import { openPool } from '../../src/workers/pool.ts'
import { testEnvironment } from '../support/auth-server.ts'

/** Stands in for the process of a worker: the test speaks for it. */
class FakeChild extends EventEmitter {
  connected = true
  exitCode: number | null = null
  signalCode: string | null = null
  readonly pid: number
  readonly received: { readonly kind: string }[] = []

  constructor(pid: number) {
    super()
    this.pid = pid
  }

  send(message: { readonly kind: string }): boolean {
    this.received.push(message)
    return true
  }

  say(message: Readonly<Record<string, unknown>>): void {
    this.emit('message', message)
  }

  kill(): boolean {
    this.exitCode = 0
    this.connected = false
    this.emit('disconnect')
    this.emit('exit', 0, null)
    return true
  }

  /** What the primary said of requests that passed at other workers. */
  get heard(): readonly unknown[] {
    return this.received.filter(({ kind }) => kind === 'admitted')
  }
}

/** Workers whose processes are not started. */
function openFakePool(t: TestContext, size: number) {
  const children: FakeChild[] = []
  t.mock.method(childProcess, 'fork', () => {
    const child = new FakeChild(1_000 + children.length)
    children.push(child)
    return child
  })
  syncBuiltinESMExports()
  t.after(() => {
    pool.kill()
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  const warnings: unknown[] = []
  const log = { error: () => {}, warning: (text: unknown) => warnings.push(text), info: () => {} }
  const { config } = parseConfig(testEnvironment)
  const basics = { size, config, version: '0', startedAt: 0 }
  const start = { ...basics, databaseUrl: '', maxConnections: undefined }
  const pool = openPool({ start, logFd: 2, log, onHopeless: assert.ifError })
  return { pool, children, warnings }
}

test('requests that a worker has admitted are reported to all other workers, and not to itself', (t) => {
  const { children } = openFakePool(t, 3)
  const [first, second, third] = children
  assert.ok(first && second && third)
  for (const child of children) child.say({ kind: 'ready' })
  const counts = [
    ['otp', '192.0.2.1', 3],
    ['token', '192.0.2.2', 1],
  ]
  second.say({ kind: 'admitted', counts })
  assert.deepEqual(first.heard, [{ kind: 'admitted', counts }])
  assert.deepEqual(third.heard, [{ kind: 'admitted', counts }])
  assert.deepEqual(second.heard, [])
})

test('of the warnings of all workers about one topic the first is logged', (t) => {
  const { children, warnings } = openFakePool(t, 2)
  const [first, second] = children
  assert.ok(first && second)
  first.say({ kind: 'warning', topic: 'forwarding', message: 'of the first' })
  second.say({ kind: 'warning', topic: 'forwarding', message: 'of the second' })
  second.say({ kind: 'warning', topic: 'another', message: 'of something else' })
  first.say({ kind: 'warning', topic: 'forwarding', message: 'again' })
  assert.deepEqual(warnings, ['of the first', 'of something else'])
})

test('a worker that is still starting is not told, and one that was replaced is', async (t) => {
  const { pool, children } = openFakePool(t, 2)
  const [first, second] = children
  assert.ok(first && second)
  first.say({ kind: 'ready' })
  const counts = [['otp', '192.0.2.1', 1]]
  first.say({ kind: 'admitted', counts })
  assert.deepEqual(second.heard, [])
  second.say({ kind: 'ready' })
  await pool.ready
  second.kill()
  while (children.length < 3) await new Promise(setImmediate)
  const [, , replacement] = children
  assert.ok(replacement)
  replacement.say({ kind: 'ready' })
  first.say({ kind: 'admitted', counts })
  assert.deepEqual(second.heard, [])
  assert.deepEqual(replacement.heard, [{ kind: 'admitted', counts }])
})

test('connections are counted until their worker reports them closed, so the next one goes where fewer are', (t) => {
  const { pool, children } = openFakePool(t, 2)
  for (const child of children) child.say({ kind: 'ready' })
  const [first, second] = children
  assert.ok(first && second)
  const serve = () => pool.serve(listener, new Socket())
  const countAll = () => pool.workers.map((worker) => worker.countConnections())
  const adopt = () => {
    for (const child of children) child.say({ kind: 'adopted' })
  }
  serve()
  serve()
  assert.deepEqual(countAll(), [1, 1])
  adopt()
  assert.deepEqual(countAll(), [1, 1])
  first.say({ kind: 'closed' })
  assert.deepEqual(countAll(), [0, 1])
  serve()
  assert.deepEqual(countAll(), [1, 1])
  assert.equal(first.received.filter(({ kind }) => kind === 'connection').length, 2)
})
