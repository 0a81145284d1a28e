import type { PreparedLoad } from '@portcullis/bench-kit/load-process'
import { createRequests } from '../requests.ts'
import { createCalls } from './calls.ts'
import { Connection } from './connection.ts'
import { BatchedLoop, ClosedLoop, type Driver, OpenLoop } from './drivers.ts'
import type { LoadJob, LoadOutcome, Pace } from './job.ts'

/** Creates the requests and opens the connections, so that `run` only generates load. */
export async function prepareLoad(job: LoadJob): Promise<PreparedLoad<LoadOutcome>> {
  const calls = createCalls(createRequests(job.requests), job)
  const driver = createDriver(job.pace)
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => {})
  const connections = Array.from(
    { length: job.connections },
    () => new Connection(job.target, calls, driver, failure.reject),
  )
  const close = () => {
    for (const connection of connections) connection.close()
  }
  try {
    await Promise.race([failure.promise, Promise.all(connections.map((one) => one.ready()))])
  } catch (error) {
    close()
    throw error
  }
  return { run: () => measure(driver, connections, failure.promise), close }
}

async function measure(
  driver: Driver,
  connections: readonly Connection[],
  failure: Promise<never>,
): Promise<LoadOutcome> {
  const usageBefore = process.cpuUsage()
  const seconds = await Promise.race([failure, driver.drive(connections)])
  const { user, system } = process.cpuUsage(usageBefore)
  const { ok, overLimit, errors, latencies } = driver.tally
  return {
    calls: ok + overLimit + errors,
    ok,
    overLimit,
    errors,
    seconds,
    loadCpuSeconds: (user + system) / 1e6,
    p50Ms: latencies.quantile(0.5),
    p99Ms: latencies.quantile(0.99),
    p999Ms: latencies.quantile(0.999),
  }
}

function createDriver(pace: Pace): Driver {
  if (pace.kind === 'open') return new OpenLoop(pace.perSecond, pace.seconds)
  if (pace.kind === 'batched') return new BatchedLoop(pace.perSecond, pace.seconds)
  return new ClosedLoop(pace.streams, pace.kind === 'count' ? pace : { seconds: pace.seconds })
}
