import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Pool } from '../../src/workers/pool.ts'
import type { EchoStart } from '../support/echo-worker.ts'

const program = new URL('../support/echo-worker.ts', import.meta.url)

/** Workers that can start once; afterwards those with a number up to `broken` cannot start. */
async function openBreakingPool(t: TestContext, size: number, broken: number) {
  const started = new Set<number>()
  const lost: number[] = []
  const errors: string[] = []
  const failure = Promise.withResolvers<Error>()
  let onError = () => {}
  const pool = new Pool({
    program,
    size,
    logFd: 2,
    toStart(number): EchoStart {
      const start = started.has(number) && number <= broken ? { fault: 'no luck' } : {}
      started.add(number)
      return start
    },
    onMessage: () => {},
    onLost: ({ number }) => lost.push(number),
    log: {
      error(line) {
        errors.push(String(line).replace(/pid \d+/, 'pid'))
        onError()
      },
      warning: () => {},
      info: () => {},
    },
    onPermanentFailure: failure.resolve,
  })
  t.after(() => pool[Symbol.asyncDispose]())
  await pool.ready
  const untilErrors = (count: number) =>
    new Promise<void>((resolve) => {
      onError = () => {
        if (errors.length === count) resolve()
      }
    })
  return { pool, lost, errors, untilErrors, failure: failure.promise }
}

test('a pool fails permanently when its only worker can no longer start', async (t) => {
  const { pool, lost, errors, failure } = await openBreakingPool(t, 1, 1)
  process.kill(pool.workers[0]?.pid ?? 0, 'SIGKILL')
  const { message } = await failure
  assert.match(
    message,
    /^Worker 1 \(pid \d+\) was lost \(it cannot start: Error: no luck\), and no other worker is left$/,
  )
  assert.deepEqual(lost, [1, 1, 1, 1, 1, 1])
  assert.deepEqual(errors, [
    'Worker 1 (pid) was lost: killed by SIGKILL; starting a replacement',
    ...[100, 200, 400, 800].map(
      (delay) =>
        `Worker 1 (pid) was lost: it cannot start: Error: no luck; retrying in ${delay} ms`,
    ),
  ])
})

test('a pool keeps retrying while another worker is ready', async (t) => {
  const { pool, untilErrors, failure } = await openBreakingPool(t, 2, 1)
  // One more than a pool without another worker would try.
  const tried = untilErrors(6)
  process.kill(pool.workers[0]?.pid ?? 0, 'SIGKILL')
  const outcome = await Promise.race([tried, failure])
  assert.equal(outcome, undefined)
  assert.deepEqual(
    pool.workers.map(({ number }) => number),
    [2],
  )
})
