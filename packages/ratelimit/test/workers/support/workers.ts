import type { TestContext } from 'node:test'
import { listProcesses, open } from '@portcullis/test-servers'
import { readStatistics } from '../../support/service-client.ts'
import {
  type RunningService,
  type ServiceOptions,
  startService,
  until,
} from '../../support/service-process.ts'

/** A line of the debug page `/workers`. */
export interface WorkerLine {
  readonly number: number
  readonly pid: number
  readonly state: string
  readonly grpc: number
  readonly http: number
}

const line =
  /^worker (\d+): pid=(\d+) state=(\w+) up_seconds=\d+ grpc_connections=(\d+) http_connections=(\d+)$/

export async function readWorkers({
  debugUrl,
}: {
  readonly debugUrl: string
}): Promise<WorkerLine[]> {
  const text = await (await fetch(`${debugUrl}/workers`)).text()
  return text
    .trimEnd()
    .split('\n')
    .map((each) => {
      const [, number, pid, state = '', grpc, http] = line.exec(each) ?? []
      return {
        number: Number(number),
        pid: Number(pid),
        state,
        grpc: Number(grpc),
        http: Number(http),
      }
    })
}

/** How long the service waits for the latest reports of its workers before it answers `/stats`. */
const refreshMs = 500

/**
 * Returns the statistics once they include everything that was counted before. The first response must
 * include it, unless a worker was so slow that the service did not wait for its report.
 */
export async function readFreshStatistics(
  service: { readonly debugUrl: string },
  name: string,
  expected: number,
): Promise<ReadonlyMap<string, number>> {
  for (;;) {
    const startedMs = performance.now()
    const statistics = await readStatistics(service)
    const value = statistics.get(name)
    if (value === expected) return statistics
    const hasWaited = performance.now() - startedMs >= refreshMs
    if (!hasWaited || Number(value) > expected) {
      throw new Error(`${name} is ${value} at once, not ${expected}`)
    }
  }
}

/** Waits until the workers have these numbers of connections, in ascending order. */
export async function untilConnections(
  service: { readonly debugUrl: string },
  listener: 'grpc' | 'http',
  expected: readonly number[],
): Promise<void> {
  let counts: number[] = []
  const isSo = async () => {
    counts = (await readWorkers(service)).map((worker) => worker[listener]).sort((a, b) => a - b)
    return `${counts}` === `${expected}`
  }
  await until(isSo, () => `connections were ${expected}; they are ${counts}`)
}

/** The child processes of a service, according to the operating system. */
export async function listChildren({ pid }: { readonly pid: number }): Promise<number[]> {
  return listProcesses().flatMap((one) => (one.parent === pid ? [one.pid] : []))
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A service with workers and a separate Redis; undefined if Redis is not available. */
export async function startWorkers(
  t: TestContext,
  workers: number,
  { env = {}, ...options }: ServiceOptions = {},
): Promise<RunningService | undefined> {
  const redis = await open(t, 'redis')
  if (!redis) return undefined
  return await startService(t, {
    ...options,
    env: { KVSTORE_URL: `127.0.0.1:${redis.port}`, WORKERS: `${workers}`, ...env },
  })
}
