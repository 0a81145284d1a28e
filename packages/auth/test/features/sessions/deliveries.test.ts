import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { openDeliveries } from '../../../src/features/sessions/deliveries.ts'

const interval = 10_000

function open(t: TestContext, fail: () => boolean = () => false) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const written: (readonly string[])[] = []
  const deliveries = openDeliveries({
    db: {
      async run(_statement: unknown, values?: object) {
        if (fail()) throw new Error('no connection')
        written.push(Reflect.get(values ?? {}, 'sessionIds'))
        return []
      },
    },
    log: { warning: () => {} },
    now: () => 0,
  })
  const mark = (sessionId: string, reuseIntervalMs = interval) =>
    deliveries.mark({ sessionId, counter: 1 }, reuseIntervalMs)
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms)
    await turn()
  }
  return { deliveries, written, mark, pass }
}

test('marks are collected for a tenth of a second and written together', async (t) => {
  const { written, mark, pass } = open(t)
  mark('a')
  await pass(60)
  mark('b')
  assert.deepEqual(written, [])
  await pass(40)
  assert.deepEqual(written, [['a', 'b']])
  mark('c')
  await pass(100)
  assert.deepEqual(written, [['a', 'b'], ['c']])
})

test('a mark is written at once if the reuse interval ends earlier', async (t) => {
  const { written, mark, pass } = open(t)
  mark('a')
  mark('b', 0)
  await pass(0)
  assert.deepEqual(written, [['a', 'b']])
})

test('a request that reads a session waits until the marks are written', async (t) => {
  const { deliveries, written, mark } = open(t)
  mark('a')
  const first = deliveries.settled()
  mark('b')
  await Promise.all([first, deliveries.settled()])
  assert.deepEqual(written, [['a'], ['b']])
})

test('marks that could not be written are written later, and when the server stops', async (t) => {
  let isLost = true
  const { deliveries, written, mark, pass } = open(t, () => isLost)
  mark('a')
  await deliveries.settled()
  mark('b')
  await pass(100)
  assert.deepEqual(written, [])
  isLost = false
  await pass(900)
  assert.deepEqual(written, [['a', 'b']])
  mark('c')
  await deliveries[Symbol.asyncDispose]()
  assert.deepEqual(written, [['a', 'b'], ['c']])
})
