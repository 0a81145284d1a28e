import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import nodeProcess from 'node:process'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { createLog } from '@portcullis/service-kit/log/log'
import { openLifecycle } from '@portcullis/service-kit/process/lifecycle'

const never = new Promise<void>(() => {})

function openExample(
  options: {
    drainDelayMs?: number
    drainTimeoutMs?: number
    closeTimeoutMs?: number
    onHangup?: () => boolean
  } = {},
) {
  const events: string[] = []
  const emitter = new EventEmitter()
  const process = Object.assign(emitter, { exit: (code: number) => events.push(`exit ${code}`) })
  const lifecycle = openLifecycle({
    log: createLog({
      level: 'info',
      format: 'text',
      write: (line) => events.push(line.replace(/^.*level=(\w+) msg=(.*)\n$/, '$1 $2')),
    }),
    process,
    drainDelayMs: options.drainDelayMs ?? 0,
    drainTimeoutMs: options.drainTimeoutMs ?? 60_000,
    closeTimeoutMs: options.closeTimeoutMs ?? 60_000,
    ...(options.onHangup && { onHangup: options.onHangup }),
  })
  lifecycle.stopping.addEventListener('abort', () => events.push('stopping'))
  const own = (name: string, error?: Error) =>
    lifecycle.own(name, {
      async [Symbol.asyncDispose]() {
        await setImmediate()
        events.push(`closed ${name}`)
        if (error !== undefined) throw error
      },
    })
  return { lifecycle, process, events, own }
}

test('a signal drains in order, then closes in reverse order', async () => {
  const { lifecycle, process, events, own } = openExample()
  own('store')
  own('listener')
  lifecycle.own('cache', { [Symbol.dispose]: () => events.push('closed cache') })
  lifecycle.drain('gRPC', async () => {
    await setImmediate()
    events.push('drained gRPC')
  })
  lifecycle.drain('HTTP', () => {
    events.push('drained HTTP')
  })
  process.emit('SIGTERM', 'SIGTERM')
  assert.equal(await lifecycle.ended, 0)
  assert.deepEqual(events, [
    'warning "Received SIGTERM: stopping"',
    'stopping',
    'drained gRPC',
    'drained HTTP',
    'closed cache',
    'closed listener',
    'closed store',
  ])
  assert.equal(process.listenerCount('SIGTERM'), 0)
})

test('only SIGTERM waits for load balancers', async () => {
  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    const { lifecycle, process } = openExample({ drainDelayMs: 3_600_000 })
    process.emit(signal, signal)
    assert.equal(await lifecycle.ended, 0)
    assert.equal(lifecycle.stopping.reason, signal)
  }
  const delayed = openExample({ drainDelayMs: 200 })
  delayed.lifecycle.drain('gRPC', () => {
    delayed.events.push('drained')
  })
  delayed.process.emit('SIGTERM', 'SIGTERM')
  await setImmediate()
  assert.ok(!delayed.events.includes('drained'))
  assert.equal(await delayed.lifecycle.ended, 0)
  assert.ok(delayed.events.includes('drained'))
})

test('a service may handle SIGHUP itself, until it stops', async () => {
  let hangups = 0
  const { lifecycle, process, events } = openExample({
    onHangup: () => {
      hangups += 1
      return hangups < 3
    },
  })
  process.emit('SIGHUP', 'SIGHUP')
  process.emit('SIGHUP', 'SIGHUP')
  assert.deepEqual(events, [])
  process.emit('SIGHUP', 'SIGHUP')
  assert.equal(await lifecycle.ended, 0)
  assert.deepEqual([hangups, lifecycle.stopping.reason], [3, 'SIGHUP'])
  const stopping = openExample({ onHangup: () => assert.fail('it is stopping') })
  stopping.lifecycle.drain('gRPC', () => never)
  stopping.process.emit('SIGTERM', 'SIGTERM')
  stopping.process.emit('SIGHUP', 'SIGHUP')
  assert.ok(stopping.events.includes('exit 129'), 'a second signal ends the process')
})

test('a second signal ends the process at once', async () => {
  const { lifecycle, process, events } = openExample({ drainTimeoutMs: 3_000 })
  const draining = Promise.withResolvers<void>()
  lifecycle.drain('gRPC', () => draining.promise)
  process.emit('SIGTERM', 'SIGTERM')
  await setImmediate()
  process.emit('SIGINT', 'SIGINT')
  assert.deepEqual(events.slice(-2), [
    'warning "Received SIGINT again: exiting immediately"',
    'exit 130',
  ])
  draining.resolve()
  await lifecycle.ended
})

test('a drain step that takes too long is logged and abandoned', async () => {
  const { lifecycle, events, own } = openExample({ drainTimeoutMs: 20 })
  own('store')
  lifecycle.drain('gRPC', (expired) => {
    expired.addEventListener('abort', () => events.push('told'))
    return never
  })
  lifecycle.drain('HTTP', () => {
    events.push('drained HTTP')
  })
  lifecycle.stop('SIGTERM')
  assert.equal(await lifecycle.ended, 0)
  assert.deepEqual(events.slice(1), [
    'told',
    'warning "gRPC did not drain within 20 ms: closing it anyway"',
    'drained HTTP',
    'closed store',
  ])
})

test('failures to drain or to close are logged, the other resources are closed, and the exit code is 1', async () => {
  const { lifecycle, events, own } = openExample({ closeTimeoutMs: 20 })
  own('first')
  own('second', new Error('no'))
  lifecycle.own('stuck', { [Symbol.asyncDispose]: () => never })
  lifecycle.drain('gRPC', () => Promise.reject(new Error('broken')))
  lifecycle.stop('SIGINT')
  assert.equal(await lifecycle.ended, 1)
  assert.deepEqual(events.slice(1, 3), [
    'error "gRPC did not drain: broken"',
    'error "stuck did not close: it took too long"',
  ])
  assert.ok(events.includes('closed second'))
  assert.ok(events.includes('closed first'))
})

test('a failure closes everything without draining', async () => {
  const { lifecycle, events, own } = openExample({ drainDelayMs: 3_600_000 })
  own('store')
  lifecycle.drain('gRPC', () => assert.fail('nothing to drain'))
  lifecycle.fail(new Error('port 8081 is taken'))
  assert.equal(await lifecycle.ended, 1)
  assert.deepEqual(events, ['fatal "port 8081 is taken"', 'stopping', 'closed store'])
})

test('a failure while stopping ends the waiting', async () => {
  const { lifecycle } = openExample({ drainDelayMs: 3_600_000 })
  lifecycle.stop('SIGTERM')
  lifecycle.fail(new Error('lost'))
  assert.equal(await lifecycle.ended, 1)
})

test('a real process drains on SIGTERM and exits with 0; a second signal ends it', async (t) => {
  const script = join(import.meta.dirname, '..', 'support', 'example-service.ts')
  const start = async () => {
    const child = spawn(nodeProcess.execPath, [script], { stdio: ['ignore', 'pipe', 'pipe'] })
    t.after(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    return child
  }
  const patient = await start()
  const log = text(patient.stderr)
  patient.kill('SIGTERM')
  assert.deepEqual(await once(patient, 'exit'), [0, null])
  assert.match(await log, /Received SIGTERM: stopping.*\n.*drained.*\n.*closed/)

  const hurried = await start()
  hurried.stderr.resume()
  hurried.kill('SIGHUP')
  await once(hurried.stderr, 'data')
  await sleep(20)
  hurried.kill('SIGTERM')
  assert.deepEqual(await once(hurried, 'exit'), [143, null])
})
