import { setTimeout as wait } from 'node:timers/promises'
import type { PreparedLoad } from '@portcullis/bench-kit/load-process'
import { Connection } from './connection.ts'
import type { LoadJob, LoadOutcome, Probe } from './job.ts'
import { get } from './requests.ts'
import { scripts } from './scripts.ts'

/** Opens the connections in advance, so that `run` measures only the load. */
export async function prepareLoad(job: LoadJob): Promise<PreparedLoad<LoadOutcome>> {
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => {})
  const count = job.connections + (job.probe ? 1 : 0)
  const opened = await Promise.all(
    Array.from({ length: count }, () => Connection.open(job.target, failure.reject)),
  )
  const connections = opened.slice(0, job.connections)
  const prober = opened[job.connections]

  async function run(): Promise<LoadOutcome> {
    const usageBefore = process.cpuUsage()
    const probing =
      job.probe && prober ? probe(prober, job.probe, job.seconds) : Promise.resolve([])
    const load = await Promise.race([failure.promise, drive(connections, job)])
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

function drive(connections: readonly Connection[], job: LoadJob) {
  const script = scripts[job.script](job)
  const latencies: number[] = []
  let errors = 0
  let firstError: string | undefined
  const idle = new Set(connections.keys())
  const startMs = performance.now()
  const endMs = startMs + job.seconds * 1000
  const { promise, resolve } = Promise.withResolvers<void>()

  const sendAll = () => {
    // The time is read once, so that either all connections send another request or none does.
    const isOver = performance.now() >= endMs
    for (const index of idle) {
      const request = isOver ? undefined : script.next(index)
      if (request === undefined) break
      idle.delete(index)
      connections[index]?.send(request, (response, ms) => {
        latencies.push(ms)
        const fault = script.check(index, response)
        if (fault !== undefined) {
          errors++
          firstError ??= fault
        }
        idle.add(index)
        sendAll()
      })
    }
    if (idle.size === connections.length) resolve()
  }
  sendAll()
  return promise.then(() => ({
    latencies,
    errors,
    firstError,
    seconds: (performance.now() - startMs) / 1000,
    credentials: script.credentials,
  }))
}

/** Latency is measured from the time when a request was due, even if the previous one is late. */
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
    // A late timer is our own delay, so latency then starts now; only a slow previous probe counts
    // from the due time.
    const sinceMs = earlyMs > 0 ? performance.now() : dueMs
    connection.send(
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
