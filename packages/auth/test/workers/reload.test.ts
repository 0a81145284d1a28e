import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Config, parseConfig } from '../../src/config/config.ts'
import type { PreparedChange } from '../../src/reloading/reload-plan.ts'
import { createPrimaryReload, type ReloadedWorker } from '../../src/workers/primary-reload.ts'
import type { PreparedMessage, ReloadMessage } from '../../src/workers/reload-messages.ts'
import { createWorkerReload } from '../../src/workers/worker-reload.ts'
import { testEnvironment } from '../support/auth-server.ts'

const toConfig = (seconds: number): Config =>
  parseConfig({ ...testEnvironment, AUTH_JWT_EXP: `${seconds}` }).config
const [old, next] = [toConfig(600), toConfig(700)]

class FakeWorker implements ReloadedWorker {
  readonly number: number
  isReady = true
  readonly received: ReloadMessage[] = []
  constructor(number: number) {
    this.number = number
  }
  send(message: ReloadMessage): void {
    this.received.push(message)
  }
  get kinds(): readonly string[] {
    return this.received.map(({ kind }) => kind)
  }
}

function openPrimary(timeoutMs = 60_000) {
  const workers = [new FakeWorker(1), new FakeWorker(2)] as const
  const primary = createPrimaryReload({ config: old, list: () => workers, timeoutMs })
  return { primary, workers }
}

test('workers change to a configuration only after all of them have prepared it', async () => {
  const { primary, workers } = openPrimary()
  const [first, second] = workers
  const reloaded = primary.reload(next)
  assert.deepEqual([first.kinds, second.kinds], [['prepare'], ['prepare']])
  primary.take(first, { kind: 'prepared', id: 1 })
  await new Promise(setImmediate)
  assert.deepEqual(first.kinds, ['prepare'])
  assert.equal(primary.config, old)
  primary.take(second, { kind: 'prepared', id: 1 })
  await reloaded
  for (const { received } of workers) {
    assert.deepEqual(received.at(-1), { kind: 'commit', id: 1, config: next })
  }
  assert.equal(primary.config, next, 'workers that start later get it')
})

test('if one worker cannot use a configuration, none changes', async () => {
  const { primary, workers } = openPrimary()
  const [first, second] = workers
  const reloaded = primary.reload(next)
  primary.take(first, { kind: 'prepared', id: 1 })
  primary.take(second, { kind: 'prepared', id: 1, failure: 'the key is wrong' })
  await assert.rejects(reloaded, { message: 'the key is wrong' })
  for (const { kinds } of workers) assert.deepEqual(kinds, ['prepare', 'discard'])
  assert.equal(primary.config, old)
})

test('the same failure of all workers is reported once, and no response is a failure', async () => {
  const failing = openPrimary()
  const reloaded = failing.primary.reload(next)
  for (const worker of failing.workers) {
    failing.primary.take(worker, { kind: 'prepared', id: 1, failure: 'the key is wrong' })
  }
  await assert.rejects(reloaded, { message: 'the key is wrong' })
  const silent = openPrimary(10)
  await assert.rejects(silent.primary.reload(next), {
    message: 'worker 1 did not respond in time; worker 2 did not respond in time',
  })
})

test('a worker that ends, or is still starting, does not delay the others', async () => {
  const { primary, workers } = openPrimary()
  const [first, second] = workers
  second.isReady = false
  const reloaded = primary.reload(next)
  assert.deepEqual(second.kinds, [])
  primary.forget(first)
  await reloaded
  assert.deepEqual(second.kinds, ['commit'], 'it prepares the configuration when it is ready')
  primary.take(first, { kind: 'prepared', id: 1 })
})

/** A worker that records what happens to its configurations. */
function openWorker() {
  const events: string[] = []
  const sent: PreparedMessage[] = []
  const reload = createWorkerReload({
    send: (message) => sent.push(message),
    onFailure: ({ message }) => events.push(`failed: ${message}`),
  })
  let failure: Error | undefined
  const prepare = async (config: Config): Promise<PreparedChange> => {
    if (failure) throw failure
    const name = config.tokens.expiresInSeconds
    events.push(`prepared ${name}`)
    return {
      commit: () => void events.push(`committed ${name}`),
      discard: async () => void events.push(`discarded ${name}`),
    }
  }
  const settle = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
  }
  return { reload, prepare, events, sent, settle, fail: (error: Error) => (failure = error) }
}

test('a worker prepares, reports and commits a configuration', async () => {
  const { reload, prepare, events, sent, settle } = openWorker()
  reload.attach(prepare)
  reload.take({ kind: 'prepare', id: 1, config: next })
  await settle()
  assert.deepEqual(sent, [{ kind: 'prepared', id: 1 }])
  reload.take({ kind: 'commit', id: 1, config: next })
  await settle()
  assert.deepEqual(events, ['prepared 700', 'committed 700'])
  reload.take({ kind: 'prepare', id: 2, config: old })
  reload.take({ kind: 'discard', id: 2 })
  await settle()
  assert.deepEqual(events.slice(2), ['prepared 600', 'discarded 600'])
})

test('a worker reports why it cannot use a configuration', async () => {
  const { reload, prepare, events, sent, settle, fail } = openWorker()
  reload.attach(prepare)
  fail(new Error('the key is wrong'))
  reload.take({ kind: 'prepare', id: 1, config: next })
  await settle()
  assert.deepEqual(sent, [{ kind: 'prepared', id: 1, failure: 'the key is wrong' }])
  assert.deepEqual(events, [])
})

test('a worker that starts during a reload changes to the same configuration, or reports a failure', async () => {
  const late = openWorker()
  late.reload.take({ kind: 'commit', id: 1, config: next })
  await late.settle()
  assert.deepEqual(late.events, [], 'the worker is not ready yet')
  late.reload.attach(late.prepare)
  await late.settle()
  assert.deepEqual(late.events, ['prepared 700', 'committed 700'])
  late.fail(new Error('the key is wrong'))
  late.reload.take({ kind: 'commit', id: 2, config: old })
  await late.settle()
  assert.deepEqual(late.events.slice(2), [
    'failed: The reloaded configuration cannot be used: the key is wrong',
  ])
})
