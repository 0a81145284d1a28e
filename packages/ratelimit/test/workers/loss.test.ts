/**
 * @legs safety
 * @servers redis
 */

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { status } from '@portcullis/grpc-unary'
import { createAuthority } from '@portcullis/test-servers'
import { descriptor, requestFor } from '../support/decider.ts'
import { openDecisionClient, readRule, readStatistics } from '../support/service-client.ts'
import { type RunningService, until } from '../support/service-process.ts'
import {
  isAlive,
  listChildren,
  readFreshStatistics,
  readWorkers,
  startWorkers,
} from './support/workers.ts'

const rules =
  'domain: d\ndescriptors: [{ key: k, rate_limit: { unit: day, requests_per_unit: 4000000000 } }]\n'
const request = requestFor('d', descriptor('k=v'))

async function untilReplaced(service: RunningService, lost: number, count: number) {
  await until(
    async () => {
      const workers = await readWorkers(service)
      return (
        workers.length === count &&
        workers.every(({ pid, state }) => pid !== lost && state === 'serving')
      )
    },
    () => `the worker was replaced; the log:\n${service.log}`,
  )
}

test('a worker that is killed under load loses only its calls in progress, and is replaced', async (t) => {
  const service = await startWorkers(t, 2, { rules })
  if (!service) return
  const clients = await Promise.all(Array.from({ length: 8 }, () => openDecisionClient(t, service)))
  let answered = 0
  let lost = 0
  let isOver = false
  t.after(() => {
    isOver = true
  })
  const calling = clients.map(async ({ tryDecide }) => {
    while (!isOver) {
      const { code } = await tryDecide(request)
      if (code === status.OK) answered += 1
      else lost += 1
      // Its connection is lost: the failed call was the one in progress.
      if (code !== status.OK) return
    }
  })
  const untilAnswered = (more: number) => {
    const from = answered
    return until(
      () => answered >= from + more,
      () => 'clients were answered',
    )
  }
  await untilAnswered(500)
  const [victim, other] = await readWorkers(service)
  assert.ok(victim && other)
  assert.deepEqual([victim.grpc, other.grpc], [4, 4])
  const { total_hits: reported = 0 } = await readRule(service, 'd.k')
  process.kill(victim.pid, 'SIGKILL')
  await untilReplaced(service, victim.pid, 2)
  await untilAnswered(200)
  isOver = true
  await Promise.all(calling)
  assert.equal(lost, 4)
  const line = `Worker ${victim.number} (pid ${victim.pid}) was lost: killed by SIGKILL`
  assert.equal(service.log.split(line).length, 2, service.log)
  assert.equal(service.log.match(/level=(?:error|fatal)/g)?.length, 1)

  // New clients reach both workers, and the sum contains everything that was reported exactly once.
  const later = await Promise.all(Array.from({ length: 4 }, () => openDecisionClient(t, service)))
  for (const { decide } of later) await decide(request)
  const { total_hits: hits = 0 } = await readRule(service, 'd.k')
  const most = answered + lost + later.length
  assert.ok(reported > 0 && hits >= reported, `${hits} hits after ${reported}`)
  assert.ok(hits <= most, `${hits} hits, at most ${most} calls`)
})

test('the reported counts of a lost worker stay in the sum, its gauges do not', async (t) => {
  const service = await startWorkers(t, 2, { rules })
  if (!service) return
  const clients = await Promise.all([
    openDecisionClient(t, service),
    openDecisionClient(t, service),
  ])
  for (const { decide } of clients) {
    for (let count = 0; count < 10; count += 1) await decide(request)
  }
  await readFreshStatistics(service, 'ratelimit.service.rate_limit.d.k.total_hits', 20)
  // The lead worker, which another one must replace.
  const [victim] = await readWorkers(service)
  assert.ok(victim)
  process.kill(victim.pid, 'SIGKILL')
  await untilReplaced(service, victim.pid, 2)
  await until(
    async () => (await readStatistics(service)).get('ratelimit.redis_pool.cx_active') === 2,
    () => 'the new worker was counted',
  )
  const statistics = await readStatistics(service)
  assert.equal(statistics.get('ratelimit.service.rate_limit.d.k.total_hits'), 20)
  assert.equal(statistics.get('ratelimit.redis_pool.cx_total'), 3)
  assert.equal(statistics.get('ratelimit.service.config_load_success'), 1)
  assert.equal(statistics.get('runtime.num_values'), 1)
  await service.rules.replace(rules.replace('4000000000', '40'))
  await until(
    async () => (await readStatistics(service)).get('ratelimit.service.config_load_success') === 2,
    () => 'the second load was counted once',
  )
})

test('a service whose workers cannot be replaced exits and logs why', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'workers-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const { certificate, key } = createAuthority('test authority').issue('localhost')
  await writeFile(join(folder, 'tls.crt'), certificate)
  await writeFile(join(folder, 'tls.key'), key)
  const service = await startWorkers(t, 2, {
    rules,
    env: {
      GRPC_SERVER_USE_TLS: 'true',
      GRPC_SERVER_TLS_CERT: join(folder, 'tls.crt'),
      GRPC_SERVER_TLS_KEY: join(folder, 'tls.key'),
    },
  })
  if (!service) return
  const first = await listChildren(service)
  assert.equal(first.length, 2)
  await rm(folder, { recursive: true })
  for (const pid of first) process.kill(pid, 'SIGKILL')
  assert.equal(await service.ended, 1)
  assert.match(
    service.log,
    /level=fatal msg="Worker \d \(pid \d+\) was lost \(it cannot start: .*tls/,
  )
  assert.match(service.log, /retrying in 400 ms/)
  assert.deepEqual(first.filter(isAlive), [])
})
