/**
 * @servers postgres
 */
import assert from 'node:assert/strict'
import childProcess from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createLog } from '@portcullis/service-kit/log/log'
import { openLifecycle } from '@portcullis/service-kit/process/lifecycle'
import { parseConfig } from '../../src/config/config.ts'
import { listener } from '../../src/workers/group.ts'
import { startAuthWorkers } from '../../src/workers/primary.ts'
import { testEnvironment } from '../support/auth-server.ts'

/** A fake worker process; the test sends messages in its name. */
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
    this.emit('close', 0, null)
    return true
  }

  /** The reports of requests admitted by other workers. */
  get reported(): readonly unknown[] {
    return this.received.filter(({ kind }) => kind === 'admitted')
  }
}

/** Starts workers without processes. */
function startFakeWorkers(t: TestContext, size: number) {
  const children: FakeChild[] = []
  t.mock.method(childProcess, 'fork', () => {
    const child = new FakeChild(1_000 + children.length)
    children.push(child)
    return child
  })
  syncBuiltinESMExports()
  const warnings: unknown[] = []
  const log = { error: () => {}, warning: (text: unknown) => warnings.push(text), info: () => {} }
  const quiet = createLog({ level: 'panic', format: 'text', write: () => {} })
  const process = { on: () => {}, off: () => {}, exit: assert.ifError }
  const lifecycle = openLifecycle({ log: quiet, process, drainDelayMs: 0, drainTimeoutMs: 0 })
  const { config } = parseConfig(testEnvironment)
  const basics = { size, config, version: '0', startedAt: 0 }
  const start = { ...basics, databaseUrl: '', maxConnections: undefined }
  const workers = startAuthWorkers(start, { logFd: 2, log, lifecycle })
  t.after(async () => {
    lifecycle.stop('SIGINT')
    await lifecycle.ended
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  return { workers, children, warnings }
}

test('requests admitted by one worker are reported to all others', (t) => {
  const { children } = startFakeWorkers(t, 3)
  const [first, second, third] = children
  assert.ok(first && second && third)
  for (const child of children) child.say({ kind: 'ready' })
  const counts = [
    ['otp', '192.0.2.1', 3],
    ['token', '192.0.2.2', 1],
  ]
  second.say({ kind: 'admitted', counts })
  assert.deepEqual(first.reported, [{ kind: 'admitted', counts }])
  assert.deepEqual(third.reported, [{ kind: 'admitted', counts }])
  assert.deepEqual(second.reported, [])
})

test('of the warnings of all workers about one topic, only the first is logged', (t) => {
  const { children, warnings } = startFakeWorkers(t, 2)
  const [first, second] = children
  assert.ok(first && second)
  first.say({ kind: 'warning', topic: 'forwarding', message: 'from the first' })
  second.say({ kind: 'warning', topic: 'forwarding', message: 'from the second' })
  second.say({ kind: 'warning', topic: 'another', message: 'about another topic' })
  first.say({ kind: 'warning', topic: 'forwarding', message: 'again' })
  assert.deepEqual(warnings, ['from the first', 'about another topic'])
})

test('reports are sent to the replacement of a worker, but not to a worker that is still starting', async (t) => {
  const { workers, children } = startFakeWorkers(t, 2)
  const [first, second] = children
  assert.ok(first && second)
  first.say({ kind: 'ready' })
  const counts = [['otp', '192.0.2.1', 1]]
  first.say({ kind: 'admitted', counts })
  assert.deepEqual(second.reported, [])
  second.say({ kind: 'ready' })
  await workers.ready()
  second.kill()
  while (children.length < 3) await new Promise(setImmediate)
  const [, , replacement] = children
  assert.ok(replacement)
  replacement.say({ kind: 'ready' })
  first.say({ kind: 'admitted', counts })
  assert.deepEqual(second.reported, [])
  assert.deepEqual(replacement.reported, [{ kind: 'admitted', counts }])
})

test('connections go to the worker that reports the fewest', async (t) => {
  const { workers, children } = startFakeWorkers(t, 2)
  for (const child of children) child.say({ kind: 'ready' })
  const [first, second] = children
  assert.ok(first && second)
  const port = await workers.listen({
    listener,
    async bind(server) {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      const address = server.address()
      return typeof address === 'object' && address !== null ? address.port : 0
    },
    onError: assert.ifError,
  })
  const countAll = () => workers.running.map((worker) => worker.countConnections())
  const countHanded = () =>
    children.flatMap(({ received }) => received.filter(({ kind }) => kind === 'connection')).length
  const open = async () => {
    const expected = countHanded() + 1
    const client = connect(port, '127.0.0.1')
    t.after(() => client.destroy())
    while (countHanded() < expected) await new Promise(setImmediate)
  }
  await open()
  await open()
  assert.deepEqual(countAll(), [1, 1])
  for (const child of children) child.say({ kind: 'adopted', count: 1 })
  assert.deepEqual(countAll(), [1, 1])
  first.say({ kind: 'connections', listener, count: 0 })
  assert.deepEqual(countAll(), [0, 1])
  await open()
  assert.deepEqual(countAll(), [1, 1])
  assert.equal(first.received.filter(({ kind }) => kind === 'connection').length, 2)
})
