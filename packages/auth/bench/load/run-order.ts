import { setTimeout as wait } from 'node:timers/promises'
import type { PreparedLoad } from '@portcullis/bench-kit/load-process'
import { Connection } from './connection.ts'
import type { LoadOrder, LoadOutcome, Probe } from './order.ts'
import { get } from './requests.ts'
import { scripts } from './scripts.ts'

/** Opens the connections, so that `run` is nothing but load. */
export async function prepareLoad(order: LoadOrder): Promise<PreparedLoad<LoadOutcome>> {
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => {})
  const count = order.connections + (order.probe ? 1 : 0)
  const opened = await Promise.all(
    Array.from({ length: count }, () => Connection.open(order.target, failure.reject)),
  )
  const connections = opened.slice(0, order.connections)
  const prober = opened[order.connections]

  async function run(): Promise<LoadOutcome> {
    const usageBefore = process.cpuUsage()
    const probing =
      order.probe && prober ? probe(prober, order.probe, order.seconds) : Promise.resolve([])
    const load = await Promise.race([failure.promise, drive(connections, order)])
    const probes = await Promise.race([failure.promise, probing])
    const { user, system } = process.cpuUsage(usageBefore)
    const { latencies, ...rest } = load
    return {
      ...rest,
      calls: latencies.length,
      loadCpuSeconds: (user + system) / 1e6,
      p50Ms: toQuantile(latencies, 0.5),
      p99Ms: toQuantile(latencies, 0.99),
      probeP99Ms: probes.length > 0 ? toQuantile(probes, 0.99) : undefined,
    }
  }
  return {
    run,
    close() {
      for (const connection of opened) connection.close()
    },
  }
}

function drive(connections: readonly Connection[], order: LoadOrder) {
  const script = scripts[order.script](order)
  const latencies: number[] = []
  let errors = 0
  let firstError: string | undefined
  const idle = new Set(connections.keys())
  const startMs = performance.now()
  const endMs = startMs + order.seconds * 1000
  const { promise, resolve } = Promise.withResolvers<void>()

  const askAll = () => {
    // Looked at once: a storm that has begun is asked for by all.
    const isOver = performance.now() >= endMs
    for (const index of idle) {
      const request = isOver ? undefined : script.next(index)
      if (request === undefined) break
      idle.delete(index)
      connections[index]?.ask(request, (response, ms) => {
        latencies.push(ms)
        const flaw = script.check(index, response)
        if (flaw !== undefined) {
          errors++
          firstError ??= flaw
        }
        idle.add(index)
        askAll()
      })
    }
    if (idle.size === connections.length) resolve()
  }
  askAll()
  return promise.then(() => ({
    latencies,
    errors,
    firstError,
    seconds: (performance.now() - startMs) / 1000,
    credentials: script.credentials,
  }))
}

/** Latency counts from the moment when a request was due, also when the one before is late. */
async function probe(
  connection: Connection,
  { perSecond, accessToken }: Probe,
  seconds: number,
): Promise<readonly number[]> {
  const latencies: number[] = []
  const startMs = performance.now()
  const request = get('/user', accessToken, 0)
  for (let sent = 0; sent < perSecond * seconds; sent++) {
    const dueMs = startMs + (sent * 1000) / perSecond
    const earlyMs = dueMs - performance.now()
    if (earlyMs > 0) await wait(earlyMs)
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    // A timer that is late is our own fault; only a probe before that is slow counts from its moment.
    const sinceMs = earlyMs > 0 ? performance.now() : dueMs
    connection.ask(
      request,
      ({ status, body }, ms) => {
        if (status === 200) resolve(ms)
        else reject(new Error(`A probe of /user failed: ${status} ${body.slice(0, 200)}`))
      },
      sinceMs,
    )
    latencies.push(await promise)
  }
  return latencies
}

export function toQuantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}
