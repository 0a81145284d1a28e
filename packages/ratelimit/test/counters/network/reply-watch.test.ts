import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from '../../../src/counters/counter-store.ts'
import { ReplyWatch, type Waiter } from '../../../src/counters/network/reply-watch.ts'

const late = new StoreError('late')

function openWatch(t: TestContext) {
  const waiters: Waiter[] = []
  const failed: string[] = []
  const silences: number[] = []
  const watch = new ReplyWatch({
    replies: {
      get length() {
        return waiters.length
      },
      waiterAt: (distance) => waiters[distance],
    },
    late,
    onSilence: (silentMs) => silences.push(silentMs),
  })
  t.after(() => watch.stop())
  const expect = (name: string, deadlineMs: number, onFail = () => {}) => {
    const waiter = {
      deadlineMs,
      isDone: false,
      fail(reason: StoreError) {
        assert.equal(reason, late)
        assert.ok(performance.now() >= deadlineMs, 'not before the deadline')
        waiter.isDone = true
        failed.push(name)
        onFail()
      },
    }
    waiters.push(waiter)
    watch.note(deadlineMs)
    watch.start()
    return waiter
  }
  return { watch, waiters, failed, silences, expect }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let left = 24_000; left > 0 && !isSo(); left--) await sleep(5)
  assert.ok(isSo(), 'it happened within two minutes')
}

test('a call fails once after its deadline, and the others keep waiting', async (t) => {
  const { failed, silences, expect } = openWatch(t)
  expect('patient', performance.now() + 3_600_000)
  expect('hasty', performance.now() + 20)
  expect('endless', Number.POSITIVE_INFINITY)
  await until(() => failed.length > 0)
  expect('next', performance.now() + 10)
  await until(() => failed.length > 1)
  const ticks = silences.length
  await until(() => silences.length > ticks + 5)
  assert.deepEqual(failed, ['hasty', 'next'])
})

test('the deadline of a call that is made in a callback is enforced too', async (t) => {
  const { failed, expect } = openWatch(t)
  expect('first', performance.now() + 10, () => expect('second', performance.now() + 20))
  await until(() => failed.length === 2)
  assert.deepEqual(failed, ['first', 'second'])
})

test('a reply that arrived while the process was paused beyond the deadline is accepted', async (t) => {
  const { failed, silences, expect } = openWatch(t)
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ours = connect(port, '127.0.0.1')
  t.after(() => ours.destroy())
  const [theirs] = await once(server, 'connection')
  const waiter = expect('answered', performance.now() + 20)
  ours.on('data', () => {
    waiter.isDone = true
  })
  theirs.end('reply')
  // Long enough for the kernel to deliver the reply while this process reads nothing.
  while (performance.now() < waiter.deadlineMs + 200);
  await once(ours, 'end')
  await until(() => silences.length > 2)
  assert.deepEqual([waiter.isDone, failed], [true, []])
})

test('silence is measured while replies are outstanding, since the last bytes', async (t) => {
  const { watch, waiters, silences, expect } = openWatch(t)
  expect('one', Number.POSITIVE_INFINITY)
  await until(() => silences.length >= 3)
  assert.deepEqual(silences.slice(0, 3), [5, 10, 15])
  watch.endSilence()
  const heardAt = silences.length
  await until(() => silences.length > heardAt)
  assert.equal(silences[heardAt], 5)
  waiters.length = 0
  await sleep(20)
  const { length } = silences
  await sleep(30)
  assert.equal(silences.length, length)
  expect('another', Number.POSITIVE_INFINITY)
  await until(() => silences.length > length)
})

test('after it was stopped nothing happens', async (t) => {
  const { watch, failed, silences, expect } = openWatch(t)
  expect('one', performance.now())
  watch.stop()
  expect('two', performance.now())
  await sleep(30)
  assert.deepEqual([failed, silences], [[], []])
})
