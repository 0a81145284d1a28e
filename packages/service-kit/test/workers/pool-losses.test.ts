import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Pool } from '../../src/workers/pool.ts'
import { WorkerProcess } from '../../src/workers/worker-process.ts'

const program = join(import.meta.dirname, '../support/echo-worker.ts')

class EchoWorker extends WorkerProcess {
  countConnections(): number {
    return this.countUnseen('echo')
  }

  protected take(): void {}
}

/** Workers that can start once; from then on those with a number up to `broken` cannot. */
async function openBreakingPool(t: TestContext, size: number, broken: number) {
  const started = new Set<number>()
  const lost: number[] = []
  const errors: string[] = []
  const hopeless = Promise.withResolvers<Error>()
  let onError = () => {}
  const pool = new Pool({
    size,
    start(number, events) {
      const start = started.has(number) && number <= broken ? { fault: 'no luck' } : {}
      started.add(number)
      return new EchoWorker({ program, number, start, logFd: 2, events })
    },
    onLost: ({ number }) => lost.push(number),
    log: {
      error(line) {
        errors.push(String(line).replace(/pid \d+/, 'pid'))
        onError()
      },
      warning: () => {},
      info: () => {},
    },
    onHopeless: hopeless.resolve,
  })
  t.after(() => pool[Symbol.asyncDispose]())
  await pool.ready
  const untilErrors = (count: number) =>
    new Promise<void>((resolve) => {
      onError = () => {
        if (errors.length === count) resolve()
      }
    })
  return { pool, lost, errors, untilErrors, hopeless: hopeless.promise }
}

test('a pool gives up when its only worker can no longer start', async (t) => {
  const { pool, lost, errors, hopeless } = await openBreakingPool(t, 1, 1)
  process.kill(pool.workers[0]?.pid ?? 0, 'SIGKILL')
  const { message } = await hopeless
  assert.match(
    message,
    /^Worker 1 \(pid \d+\) was lost \(it cannot start: Error: no luck\), and no other worker is left$/,
  )
  assert.deepEqual(lost, [1, 1, 1, 1, 1, 1])
  assert.deepEqual(errors, [
    'Worker 1 (pid) was lost: killed by SIGKILL; another one takes its place',
    ...[100, 200, 400, 800].map(
      (delay) =>
        `Worker 1 (pid) was lost: it cannot start: Error: no luck; the next try is in ${delay} ms`,
    ),
  ])
})

test('a pool goes on trying while another worker serves', async (t) => {
  const { pool, untilErrors, hopeless } = await openBreakingPool(t, 2, 1)
  // One more than a pool without another worker would try.
  const tried = untilErrors(6)
  process.kill(pool.workers[0]?.pid ?? 0, 'SIGKILL')
  const outcome = await Promise.race([tried, hopeless])
  assert.equal(outcome, undefined)
  assert.deepEqual(
    pool.workers.map(({ number }) => number),
    [2],
  )
})
