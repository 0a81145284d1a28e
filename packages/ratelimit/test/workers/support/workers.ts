import { execFile } from 'node:child_process'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { open } from '@portcullis/test-servers'
import {
  type RunningService,
  type ServiceOptions,
  startService,
  until,
} from '../../support/service-process.ts'

/** A worker as the debug page `/workers` tells it. */
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

/** Waits until the workers have so many connections, the least first. */
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
  await until(isSo, () => `connections were ${expected}; they are ${counts}`, 10_000)
}

/** The workers of a service as the system sees them, whatever the service says. */
export async function listChildren({ pid }: { readonly pid: number }): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,stat='])
  return stdout
    .trim()
    .split('\n')
    .map((each) => each.trim().split(/\s+/))
    .filter(([, parent, state]) => Number(parent) === pid && !state?.startsWith('Z'))
    .map(([child]) => Number(child))
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A service with workers on a Redis of its own; undefined where there is none to be had. */
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
