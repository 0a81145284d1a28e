/**
 * @legs safety, endurance
 * @servers redis
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openGrpcClient } from '@portcullis/grpc-unary/client'
import { open } from '@portcullis/test-servers'
import { enduranceOr } from '@portcullis/test-servers/endurance'
import { descriptor, requestFor } from '../support/decider.ts'
import { decisionPath, toBytes } from '../support/service-client.ts'
import { type RunningService, startService, until } from '../support/service-process.ts'
import { readWorkers, type WorkerLine } from './support/workers.ts'

const request = toBytes(requestFor('d', descriptor('k=v')))
const headers = { 'grpc-timeout': '100m' }
/** Far longer than the deadline of a call: a call that takes longer counts as never answered. */
const neverMs = 60_000
const killCount = enduranceOr(50, 4)

test('a connection that is being handed over to a killed worker goes to another', async (t) => {
  const redis = await open(t, 'redis')
  if (!redis) return
  const service = await startService(t, {
    rules:
      'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 4294967295 } }]',
    env: { KVSTORE_URL: `127.0.0.1:${redis.port}`, WORKERS: '2' },
  })
  let isOver = false
  let answered = 0
  let stuck = 0
  /** A new connection for every call, so that one is being handed over at any moment. */
  const call = async () => {
    while (!isOver) {
      const client = await openGrpcClient({ address: service.grpcAddress }).catch(() => undefined)
      if (client === undefined) continue
      const answer = client.call(decisionPath, request, { headers })
      const timer = wait(neverMs, 'stuck' as const, { ref: false })
      if ((await Promise.race([answer, timer])) === 'stuck') stuck += 1
      else answered += 1
      await client.close()
    }
  }
  const calls = Array.from({ length: 12 }, call)
  let victim: WorkerLine | undefined
  for (let round = 0; round < killCount; round += 1) {
    // Both workers serve, and connections are being handed over to both.
    const workers = await untilServing(service, victim?.pid)
    const before = answered
    await until(
      () => answered >= before + 30,
      () => 'calls over new connections were answered',
    )
    victim = workers[round % 2]
    assert.ok(victim)
    process.kill(victim.pid, 'SIGKILL')
  }
  await untilServing(service, victim?.pid)
  isOver = true
  await Promise.all(calls)
  assert.equal(stuck, 0)
})

/** Waits until two workers serve, neither of which is the killed one. */
async function untilServing(
  service: RunningService,
  killedPid: number | undefined,
): Promise<WorkerLine[]> {
  let workers: WorkerLine[] = []
  await until(
    async () => {
      workers = await readWorkers(service)
      const isServing = ({ pid, state }: WorkerLine) => pid !== killedPid && state === 'serving'
      return workers.length === 2 && workers.every(isServing)
    },
    () => 'two workers served',
  )
  return workers
}
