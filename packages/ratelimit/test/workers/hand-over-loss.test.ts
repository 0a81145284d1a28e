import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openGrpcClient } from '@portcullis/grpc-unary/client'
import { open } from '@portcullis/test-servers'
import { ask, descriptor } from '../support/decider.ts'
import { decisionPath, toBytes } from '../support/service-client.ts'
import { startService } from '../support/service-process.ts'

const request = toBytes(ask('d', descriptor('k=v')))
const headers = { 'grpc-timeout': '100m' }
/** Far more than the deadline of a call: what takes longer is never answered. */
const neverMs = 20_000

test('a connection on its way to a worker that is killed goes to another', async (t) => {
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
  for (let round = 0; round < 4; round += 1) {
    await wait(1_000)
    const [victim] = await childrenOf(service.pid)
    if (victim !== undefined) process.kill(victim, 'SIGKILL')
  }
  isOver = true
  await Promise.all(calls)
  assert.equal(stuck, 0)
  assert.ok(answered > 100, `only ${answered} were answered`)
})

async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', `${pid}`])
  return stdout.trim().split(/\s+/).map(Number)
}
